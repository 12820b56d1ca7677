import { INTERACTION_PATH, OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import type { RequestHeaders } from "../../pages/cookie-values.ts";
import { PageCookie } from "../../pages/page-cookie.ts";
import type { ClientDeclaration } from "../../provider/embedded/client-declaration.ts";
import { CALLBACK_PATH, LOGIN_PATH } from "../browser/paths.ts";

/** As long as a login under way: whoever goes back later finds one that has expired. */
const SECONDS = 1800;

const CANCELLED = "cancelled";

/** A login that is over. */
export interface CompletedLogin {
  /** The id of the interaction. */
  readonly uid: string;
  readonly clientId: string;
  /** Where the client wants the browser back; undefined for a device. */
  readonly redirectUri: string | undefined;
  readonly isCancelled: boolean;
}

/** Where people begin who come back to the page of a login that is over. */
export interface LoginStart {
  /** The name of the client. */
  readonly client: string;
  readonly url: string;
}

/** What the logins need. */
export interface CompletedLoginsOptions {
  /** `iam.public_url`. */
  readonly publicUrl: string;
  /** As of `PageCookie`. */
  readonly browserSeconds: number;
  readonly clients: () => readonly ClientDeclaration[];
}

/**
 * The logins that a browser has completed or cancelled: `oidc-provider` forgets them, and browsers go back to their pages. A cookie
 * of each page says which client it was for.
 */
export class CompletedLogins {
  readonly #options: CompletedLoginsOptions;

  constructor(options: CompletedLoginsOptions) {
    this.#options = options;
  }

  /** The headers `Set-Cookie` by which the browser keeps a login. */
  lines(
    headers: RequestHeaders,
    { uid, clientId, redirectUri, isCancelled }: CompletedLogin,
  ): string[] {
    const start = redirectUri === undefined ? "" : this.#startOf(redirectUri);
    const value = [
      uid,
      ...[clientId, start].map((text) => Buffer.from(text).toString("base64url")),
      ...(isCancelled ? [CANCELLED] : []),
    ];
    return this.#cookieOf(uid).lines(headers, value.join("."), SECONDS);
  }

  /**
   * Where the login of a page began.
   *
   * @returns undefined if this browser has completed or cancelled none there; the start is absent where it is not known, or its
   * client no longer has it
   */
  find(
    headers: RequestHeaders,
    uid: string,
  ): { readonly start: LoginStart | undefined; readonly isCancelled: boolean } | undefined {
    const value = this.#cookieOf(uid).valueOf(headers)?.split(".") ?? [];
    const [clientId, url] = value
      .slice(1, 3)
      .map((text) => Buffer.from(text, "base64url").toString());
    if (value[0] !== uid) return undefined;
    const client = this.#options.clients().find(({ id }) => id === clientId);
    const starts = client?.redirectUris.map((uri) => this.#startOf(uri)) ?? [];
    const isKnown = client !== undefined && url !== undefined && starts.includes(url);
    const start = isKnown ? { client: client.name, url } : undefined;
    return { start, isCancelled: value[3] === CANCELLED };
  }

  /** Its own pages by their paths; of another site the first page. */
  #startOf(redirectUri: string): string {
    const url = new URL(redirectUri);
    if (url.origin === new URL(this.#options.publicUrl).origin) {
      if (url.pathname === OWN_ACCOUNT_PATH) return OWN_ACCOUNT_PATH;
      if (url.pathname === CALLBACK_PATH) return LOGIN_PATH;
    }
    return `${url.origin}/`;
  }

  #cookieOf(uid: string): PageCookie {
    const { publicUrl, browserSeconds } = this.#options;
    const path = `${INTERACTION_PATH}/${uid}`;
    return new PageCookie({ name: "iam_completed", path, publicUrl, browserSeconds });
  }
}
