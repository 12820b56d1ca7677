import { timingSafeEqual } from "node:crypto";
import { BrowserIdentity } from "./browser-identity.ts";
import { cookieValues, type RequestHeaders } from "./cookie-values.ts";

/** What a cookie of some pages is made with. */
export interface PageCookieOptions {
  /** Without a prefix. */
  readonly name: string;
  /** Of the pages that get it: other services of the host do not. */
  readonly path: string;
  /** `iam.public_url`. */
  readonly publicUrl: string;
  /** How long a browser keeps its identity, which sessions need too. */
  readonly browserSeconds: number;
}

/**
 * A cookie by which some pages know what a browser has begun. Other hosts of the domain can give a browser cookies of
 * this name, with what they have begun themselves: it counts only with the mark of the browser that it was given to.
 */
export class PageCookie {
  readonly #options: PageCookieOptions;
  readonly #isSecure: boolean;
  readonly #name: string;

  constructor(options: PageCookieOptions) {
    this.#options = options;
    this.#isSecure = options.publicUrl.startsWith("https:");
    // In development without TLS, not all browsers keep cookies with the prefix.
    this.#name = `${this.#isSecure ? "__Secure-" : ""}${options.name}`;
  }

  /**
   * The headers `Set-Cookie` by which the browser of a request keeps a value.
   *
   * @throws ServiceError INVALID_ARGUMENT if it says twice which browser it is
   */
  lines(headers: RequestHeaders, value: string, seconds: number): string[] {
    const browser = this.#browserOf(headers);
    const line = this.#line(`${value}.${this.#markOf(browser, value)}`, seconds);
    return [line, browser.cookieLine(this.#options.browserSeconds)];
  }

  /**
   * The value that this browser was given, whatever else has its name.
   *
   * @throws ServiceError INVALID_ARGUMENT as `lines`
   */
  valueOf(headers: RequestHeaders): string | undefined {
    const browser = this.#browserOf(headers);
    for (const text of cookieValues(headers, this.#name)) {
      const end = text.lastIndexOf(".");
      const value = text.slice(0, Math.max(end, 0));
      if (isSame(text.slice(end + 1), this.#markOf(browser, value))) return value;
    }
    return undefined;
  }

  /** The header `Set-Cookie` that removes it. */
  removed(): string {
    return this.#line("", 0);
  }

  #browserOf(headers: RequestHeaders): BrowserIdentity {
    return BrowserIdentity.of(headers, this.#options.publicUrl);
  }

  #markOf(browser: BrowserIdentity, value: string): string {
    return browser.mark(`${this.#name}=${value}`);
  }

  #line(value: string, seconds: number): string {
    const line = `${this.#name}=${value}; Max-Age=${seconds}; Path=${this.#options.path}; HttpOnly; SameSite=Lax`;
    return this.#isSecure ? `${line}; Secure` : line;
  }
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
