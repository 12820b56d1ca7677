import type { FormPlace, FormTokens } from "../../pages/form-tokens.ts";
import type { PageParts } from "../../pages/provider-pages.ts";
import { hash } from "./adapter/sealed-documents.ts";
import { cookieOf, type RequestHeaders } from "./request/cookies.ts";
import { LOGOUT_FORM_PATH, USER_CODE_PATH } from "./request/endpoints.ts";

/** The forms that `oidc-provider` takes, by their paths below the issuer. */
const FORMS: ReadonlyMap<string, string> = new Map([
  [USER_CODE_PATH, "device"],
  [LOGOUT_FORM_PATH, "logout"],
]);

/** The place of a form in the browser with a session of the provider; undefined without one, and for other paths. */
function ownFormPlace(path: string, sessionId: string | undefined): FormPlace | undefined {
  const form = FORMS.get(path);
  if (form === undefined || sessionId === undefined || sessionId === "") return undefined;
  return { form, browser: hash(sessionId) };
}

/** The forms of pages that `oidc-provider` shows: the token of one of its paths, in the session of its page. */
export function ownForms(tokens: FormTokens): Pick<PageParts, "token"> {
  return {
    token(path, sessionId) {
      const place = ownFormPlace(path, sessionId);
      return place && tokens.issue(place);
    },
  };
}

/** Whether a request sends a form that was not shown in its browser, or too long ago. */
export function isForeignForm(
  tokens: FormTokens,
  path: string,
  { headers, form }: { readonly headers: RequestHeaders; readonly form: URLSearchParams },
  cookieName: string,
): boolean {
  if (!FORMS.has(path)) return false;
  const place = ownFormPlace(path, cookieOf(headers, cookieName));
  return place === undefined || !tokens.isValid(form, place);
}
