import type { BrowserIdentity } from "../../pages/browser-identity.ts";
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
  /** The `uid` of the provider's session: that of its cookie changes with a login that a page of it has led to. */
  readonly sessionUid: string | undefined;
  /** The hash of `BrowserIdentity`. */
  readonly browser: string | undefined;
}

/** The place of a form in a browser with a session of the provider; undefined without one, and for other paths. */
function ownFormPlace(path: string, { sessionUid, browser }: FormOwner): FormPlace | undefined {
  const form = FORMS.get(path);
  if (form === undefined || browser === undefined) return undefined;
  if (sessionUid === undefined) return undefined;
  return { form, browser: `${browser} ${hash(sessionUid)}` };
}

/** The forms of pages that `oidc-provider` shows: the token of one of its paths, in the session of its page. */
export function ownForms(tokens: FormTokens): Pick<PageParts, "token"> {
  return {
    token(path, sessionUid) {
      const browser = requestScope.getStore()?.browser?.hash;
      const place = ownFormPlace(path, { sessionUid, browser });
      return place && tokens.issue(place);
    },
  };
}

/** A form that was sent, and by whom. */
interface SentForm {
  readonly form: URLSearchParams;
  readonly browser: BrowserIdentity;
  /** The `uid` of its session, if it has one. */
  sessionUid(): Promise<string | undefined>;
}

/**
 * Whether a request sends a form that was not shown in its browser, or too long ago.
 *
 * @throws ServiceError ABORTED if a key is missing here
 */
export async function isForeignForm(
  tokens: FormTokens,
  path: string,
  { form, browser, sessionUid }: SentForm,
): Promise<boolean> {
  if (!FORMS.has(path)) return false;
  // Where a key of another replica is missing, its token says so, before its session cannot be read.
  tokens.isValid(form, { form: path, browser: browser.hash });
  const owner = { sessionUid: await sessionUid(), browser: browser.hash };
  const place = ownFormPlace(path, owner);
  return place === undefined || !tokens.isValid(form, place);
}
