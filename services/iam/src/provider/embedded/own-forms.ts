import type { BrowserIdentity } from "../../pages/browser-identity.ts";
import { cookieOf, type RequestHeaders } from "../../pages/cookie-values.ts";
import type { FormPlace, FormTokens } from "../../pages/form-tokens.ts";
import type { PageParts } from "../../pages/provider-pages.ts";
import { hash } from "./adapter/sealed-documents.ts";
import { LOGOUT_FORM_PATH, USER_CODE_PATH } from "./request/endpoints.ts";
import { requestScope } from "./request/request-scope.ts";

/** The forms that `oidc-provider` takes, by their paths below the issuer. */
const FORMS: ReadonlyMap<string, string> = new Map([
  [USER_CODE_PATH, "device"],
  [LOGOUT_FORM_PATH, "logout"],
]);

/** Whose form it is. */
interface FormOwner {
  /** The cookie of the provider's session, which other hosts of the domain can give a browser. */
  readonly sessionId: string | undefined;
  /** The hash of `BrowserIdentity`. */
  readonly browser: string | undefined;
}

/** The place of a form in a browser with a session of the provider; undefined without one, and for other paths. */
function ownFormPlace(path: string, { sessionId, browser }: FormOwner): FormPlace | undefined {
  const form = FORMS.get(path);
  if (form === undefined || browser === undefined) return undefined;
  if (sessionId === undefined || sessionId === "") return undefined;
  return { form, browser: `${browser} ${hash(sessionId)}` };
}

/** The forms of pages that `oidc-provider` shows: the token of one of its paths, in the session of its page. */
export function ownForms(tokens: FormTokens): Pick<PageParts, "token"> {
  return {
    token(path, sessionId) {
      const browser = requestScope.getStore()?.browser?.hash;
      const place = ownFormPlace(path, { sessionId, browser });
      return place && tokens.issue(place);
    },
  };
}

/** A form that was sent, and by whom. */
interface SentForm {
  readonly headers: RequestHeaders;
  readonly form: URLSearchParams;
  readonly browser: BrowserIdentity;
}

/** Whether a request sends a form that was not shown in its browser, or too long ago. */
export function isForeignForm(
  tokens: FormTokens,
  path: string,
  { headers, form, browser }: SentForm,
  cookieName: string,
): boolean {
  if (!FORMS.has(path)) return false;
  const sessionId = cookieOf(headers, cookieName);
  const place = ownFormPlace(path, { sessionId, browser: browser.hash });
  return place === undefined || !tokens.isValid(form, place);
}
