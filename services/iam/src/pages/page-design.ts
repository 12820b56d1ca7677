import type { RawRequest } from "svc-access/runtime";
import { acceptedLanguages, LANGUAGES, languageOf, uiLocales } from "./languages.ts";
import { PageIcon } from "./page-icon.ts";
import { type PageBrand, PageView } from "./page-view.ts";
import { Texts } from "./texts.ts";

/** A visitor's request, as far as pages depend on it. */
export type VisitRequest = Pick<RawRequest, "query"> & { readonly headers: VisitHeaders };
type VisitHeaders = Pick<RawRequest["headers"], "all">;

const BRAND: PageBrand = { name: "Identity and access", icon: new PageIcon() };

/** The look of all pages: it makes the view of each visitor. */
export class PageDesign {
  readonly #brand: PageBrand;

  constructor(brand: PageBrand = BRAND) {
    this.#brand = brand;
  }

  /** The icon of the pages. */
  get icon(): PageIcon {
    return this.#brand.icon;
  }

  /**
   * The view for a request: in the language of `ui_locales`, else of `Accept-Language`, else English.
   *
   * @param locales the parameter `ui_locales` where it is not in the query
   */
  view(
    { headers, query }: VisitRequest,
    { requestId = "" }: { readonly requestId?: string },
    locales: unknown = query.get("ui_locales"),
  ): PageView {
    const accepted = headers.all("accept-language").join(",");
    const language =
      languageOf([...uiLocales(locales), ...acceptedLanguages(accepted)]) ?? LANGUAGES[0];
    return new PageView(this.#brand, { texts: new Texts(language), requestId });
  }
}
