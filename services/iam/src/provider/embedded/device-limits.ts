import type { RawResponse } from "svc-access/runtime";
import { LoginThrottle } from "../../people/accounts/throttle/login-throttle.ts";
import { Quota } from "../../people/accounts/throttle/quota.ts";
import { retrySeconds } from "../../people/accounts/throttle/retry-seconds.ts";
import { networkOf } from "../../people/accounts/throttle/throttle-keys.ts";
import { oauthErrorBody } from "./request/oauth-error.ts";

type QuotaDatabase = ConstructorParameters<typeof Quota>[0];
type ThrottleDatabase = ConstructorParameters<typeof LoginThrottle>[0];

/** Codes last ten minutes, so an address has at most so many of them that can be guessed. */
const STARTS = { purpose: "starts of device logins", most: 30, spanMs: 600_000 } as const;

const TOO_MANY = "too many device logins were started from this address";
/** Attempts at user codes are counted as if they were an account, by address. */
const ACCOUNT = "user codes of devices";

/** Limits how many device logins are started from an address. */
export class DeviceStarts {
  readonly #quota: Quota;

  /** @param database with the tables of the users */
  constructor(database: { readonly kysely: unknown }, now?: () => number) {
    this.#quota = new Quota(database.kysely as QuotaDatabase, STARTS, now);
  }

  /**
   * Counts a start.
   *
   * @returns after how many seconds another one is allowed, if this one is not
   */
  async begin(address: string): Promise<number | undefined> {
    const waitMs = await this.#quota.use(networkOf(address));
    return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  }
}

/** The response to a device that may not start a login now, in the error form of OAuth. */
export function deviceStartRefused(seconds: number): RawResponse {
  return {
    status: 429,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "Retry-After": String(seconds),
    },
    body: JSON.stringify(oauthErrorBody({ status: 429, message: TOO_MANY }, "")),
  };
}

/** Slows who guesses the user codes of devices. */
export class UserCodeAttempts {
  readonly #throttle: LoginThrottle;

  /** @param database with the tables of the users */
  constructor(database: { readonly kysely: unknown }, now?: () => number) {
    this.#throttle = new LoginThrottle(database.kysely as ThrottleDatabase, now);
  }

  /**
   * Counts an attempt.
   *
   * @returns after how many seconds another one is allowed, if this one is not
   */
  async begin(address: string): Promise<number | undefined> {
    const permission = await this.#throttle.begin(ACCOUNT, address);
    if (permission.allowed) return undefined;
    return retrySeconds(permission);
  }

  /** Takes an attempt back, since there is such a code. The wrong ones still count: anybody can get a code. */
  async succeeded(address: string): Promise<void> {
    await this.#throttle.takeBack(ACCOUNT, address);
  }
}
