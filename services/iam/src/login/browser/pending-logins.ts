import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { CallHeaders } from "svc-access/runtime";
import * as z from "zod";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { cookieLine, cookiesOf, PENDING_COOKIE, removedCookie } from "./cookies.ts";

/** A login between its beginning and its callback. */
export interface PendingLogin {
  /** Random; the callback must bring it back. */
  readonly state: string;
  /** Random; the ID token must have it. */
  readonly nonce: string;
  /** The PKCE verifier of the code (RFC 7636). */
  readonly codeVerifier: string;
  /** Where the browser goes after the login. */
  readonly returnTo: string;
  /** When it ends, in milliseconds since the epoch. */
  readonly expireTime: number;
}

const content = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  expireTime: z.number(),
});

const LASTS_SECONDS = 600;
/** Tabs in which somebody may be logging in at once; more would fill the headers of requests. */
const MOST = 4;
const RANDOM_BYTES = 32;
/** The characters of a state's hash in the name of its cookie. */
const NAME_LENGTH = 12;

/**
 * The logins that are under way, each in a sealed cookie of the browser that began it: nothing is
 * stored for browsers that nobody logs in with.
 */
export class PendingLogins {
  readonly #values: OutsideValues;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(values: OutsideValues, now: () => number = Date.now) {
    this.#values = values;
    this.#now = now;
  }

  /**
   * Begins a login.
   *
   * @returns it, its PKCE challenge, and the cookies that bind it to the browser
   */
  begin(headers: CallHeaders, returnTo: string) {
    const random = () => randomBytes(RANDOM_BYTES).toString("base64url");
    const login: PendingLogin = {
      state: random(),
      nonce: random(),
      codeVerifier: random(),
      returnTo,
      expireTime: this.#now() + LASTS_SECONDS * 1000,
    };
    const name = nameOf(login.state);
    const sealed = this.#values.seal(JSON.stringify(login), placeOf(name));
    const others = [...new Set(cookiesOf(headers, PENDING_COOKIE).map(([other]) => other))];
    const removed = others.length < MOST ? [] : others;
    const codeChallenge = sha256(login.codeVerifier);
    const cookies = [
      cookieLine(name, sealed, LASTS_SECONDS),
      ...removed.map((other) => removedCookie(other)),
    ];
    return { login, codeChallenge, cookies };
  }

  /**
   * The login with a state, if this browser began it and it has not ended. One of a version of the service that
   * seals other fields begins anew.
   *
   * @throws ServiceError ABORTED if a key is missing here
   */
  find(headers: CallHeaders, state: string): PendingLogin | undefined {
    const name = nameOf(state);
    const [found, ...more] = cookiesOf(headers, name).filter(([one]) => one === name);
    if (found === undefined || more.length > 0) return undefined;
    const login = this.#open(name, found[1]);
    if (login === undefined || login.expireTime <= this.#now()) return undefined;
    return isSame(login.state, state) ? login : undefined;
  }

  /** The cookie that ends a login in its browser. */
  ended(state: string): string {
    return removedCookie(nameOf(state));
  }

  #open(name: string, sealed: string): PendingLogin | undefined {
    const text = this.#values.open(sealed, placeOf(name));
    return text === undefined ? undefined : content.safeParse(JSON.parse(text)).data;
  }
}

function nameOf(state: string): string {
  return `${PENDING_COOKIE}${sha256(state).slice(0, NAME_LENGTH)}`;
}

function placeOf(name: string) {
  return { table: "cookie", column: PENDING_COOKIE, row: name };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
}
