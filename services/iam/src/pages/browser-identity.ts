import { createHash, createHmac, randomBytes } from "node:crypto";
import { ServiceError } from "svc-access/runtime";
import { cookieValues, type RequestHeaders } from "./cookie-values.ts";

const BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Which browser sends a request. Logins, sessions and links that are opened count only in the browser that they
 * began in: the cookies that name them can be set by any host of the same domain, and this one cannot.
 */
export class BrowserIdentity {
  /** What is stored of it. */
  readonly hash: string;
  readonly #value: string;
  readonly #isSecure: boolean;

  private constructor(value: string, isSecure: boolean) {
    this.#value = value;
    this.#isSecure = isSecure;
    this.hash = createHash("sha256").update(value).digest("base64url");
  }

  /**
   * That of a request: a new one if it has none.
   *
   * @throws ServiceError INVALID_ARGUMENT if it has several: which one the browser was given is not known
   */
  static of(headers: RequestHeaders, publicUrl: string): BrowserIdentity {
    const isSecure = publicUrl.startsWith("https:");
    const [value, ...more] = cookieValues(headers, nameOf(isSecure));
    if (more.length > 0) {
      throw new ServiceError("INVALID_ARGUMENT", "the cookie of the browser comes twice");
    }
    const isKnown = value !== undefined && VALUE.test(value);
    return new BrowserIdentity(
      isKnown ? value : randomBytes(BYTES).toString("base64url"),
      isSecure,
    );
  }

  /** A mark of a text that only this browser's requests have: who does not know its cookie cannot make it. */
  mark(text: string): string {
    return createHmac("sha256", this.#value).update(text).digest("base64url");
  }

  /** The header `Set-Cookie` by which the browser keeps it. */
  cookieLine(seconds: number): string {
    const line = `${nameOf(this.#isSecure)}=${this.#value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax`;
    return this.#isSecure ? `${line}; Secure` : line;
  }
}

/** In development without TLS, browsers keep no cookie with the prefix. */
function nameOf(isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}iam_browser`;
}
