import type { KoaContextWithOIDC } from "oidc-provider";
import type { PageDesign } from "../../../pages/page-design.ts";
import type { PageView } from "../../../pages/page-view.ts";
import { requestScope } from "./request-scope.ts";

/** The view for a request of `oidc-provider`. */
export function viewOf(design: PageDesign, ctx: KoaContextWithOIDC): PageView {
  const { requestId = "" } = requestScope.getStore()?.call ?? {};
  const headers = { all: (name: string) => [ctx.get(name)] };
  const query = new URLSearchParams(ctx.querystring);
  // Errors of requests that were not read have no parameters.
  const { params } = (ctx.oidc ?? {}) as { readonly params?: Readonly<Record<string, unknown>> };
  const locales = params?.["ui_locales"] ?? query.get("ui_locales");
  return design.view({ headers, query }, { requestId }, locales);
}
