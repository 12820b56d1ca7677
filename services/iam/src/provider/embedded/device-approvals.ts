import type { KoaContextWithOIDC } from "oidc-provider";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import type { BrowserIdentity } from "../../pages/browser-identity.ts";
import type { FormPlace, FormTokens } from "../../pages/form-tokens.ts";
import type { PageParts } from "../../pages/provider-pages.ts";
import { DEVICE_DONE_PATH } from "./request/endpoints.ts";
import { requestScope } from "./request/request-scope.ts";

const DONE = "done";

/** What pages know of a device that their browser has approved before, such as by the first of two clicks. */
export function deviceApprovals(
  tokens: FormTokens,
): Pick<PageParts, "doneWithDevice" | "deviceDoneUrl"> {
  return {
    doneWithDevice(ctx: KoaContextWithOIDC) {
      const code = requestScope.getStore()?.ownDeviceCode;
      if (code === undefined) return undefined;
      if (code.isRefused) return "refused";
      // Somebody else may be logged in by now.
      const isSame = code.accountId !== undefined && code.accountId === ctx.oidc.session?.accountId;
      return isSame ? "approved" : undefined;
    },
    deviceDoneUrl() {
      const browser = requestScope.getStore()?.browser;
      if (browser === undefined) throw new Error("a device was approved outside of a request");
      const query = new URLSearchParams({ [DONE]: tokens.issue(placeOf(browser)) });
      return `${PROVIDER_PATH}${DEVICE_DONE_PATH}?${query}`;
    },
  };
}

/** Whether the address of the page after an approval is one that this browser was sent to. */
export function hasApprovedDevice(
  tokens: FormTokens,
  query: URLSearchParams,
  browser: BrowserIdentity,
): boolean {
  return tokens.dataOf(query, placeOf(browser), DONE) !== undefined;
}

function placeOf({ hash }: BrowserIdentity): FormPlace {
  return { form: "device_done", browser: hash };
}
