import type { CallContext, RawRequest } from "svc-access/runtime";
import { acceptedLanguages, languageOf, SOURCE_LANGUAGE, uiLocales } from "./languages.ts";
import { choiceOf, type FindPerson, type PageChoice, type PageChoices } from "./page-choices.ts";
import { PageIcon } from "./page-icon.ts";
import { type PageBrand, PageView } from "./page-view.ts";
import { Texts } from "./texts.ts";

/** A visitor's request, as far as pages depend on it. */
export type VisitRequest = Pick<RawRequest, "query"> & { readonly headers: VisitHeaders };
type VisitHeaders = Pick<RawRequest["headers"], "all">;

/** The call of a request that is answered with a page. */
type PageCall = Partial<Pick<CallContext, "requestId" | "principal">>;

/** What the look of a page depends on, besides the request. */
export interface PageOptions {
  /** The parameter `ui_locales` where it is not in the query. */
  readonly locales?: unknown;
  /** Who the page is for; the caller if absent. */
  readonly person?: FindPerson;
}

const BRAND: PageBrand = { name: "Identity and access", icon: new PageIcon() };
const NOBODYS: PageChoices = { find: async () => ({}) };

/** The look of all pages: it makes the view of each visitor. */
export class PageDesign {
  readonly #brand: PageBrand;
  readonly #choices: PageChoices;

  /** @param choices what people have chosen in their accounts */
  constructor(brand: PageBrand = BRAND, choices: PageChoices = NOBODYS) {
    this.#brand = brand;
    this.#choices = choices;
  }

  /** The icon of the pages. */
  get icon(): PageIcon {
    return this.#brand.icon;
  }

  /** The same look, with what people have chosen. */
  knowing(choices: PageChoices): PageDesign {
    return new PageDesign(this.#brand, choices);
  }

  /**
   * The view for a request: in the language of `ui_locales`, else of `Accept-Language`, else English.
   *
   * @param locales the parameter `ui_locales` where it is not in the query
   */
  view(
    request: VisitRequest,
    call: PageCall,
    locales: unknown = request.query.get("ui_locales"),
  ): PageView {
    return this.#view(request, call, locales, {});
  }

  /**
   * The same, but as the person has chosen where `ui_locales` asks for nothing else. It may read the database: for
   * pages only, when they are shown.
   */
  async personalView(
    request: VisitRequest,
    call: PageCall,
    { person = () => call.principal, locales = request.query.get("ui_locales") }: PageOptions = {},
  ): Promise<PageView> {
    return this.#view(request, call, locales, await choiceOf(this.#choices, person));
  }

  #view(
    { headers }: VisitRequest,
    { requestId = "" }: PageCall,
    locales: unknown,
    { language: chosen, theme }: PageChoice,
  ): PageView {
    const accepted = acceptedLanguages(headers.all("accept-language").join(","));
    const wishes = [...uiLocales(locales), ...(chosen === undefined ? [] : [chosen]), ...accepted];
    const texts = new Texts(languageOf(wishes) ?? SOURCE_LANGUAGE);
    return new PageView(this.#brand, { texts, requestId, theme });
  }
}
