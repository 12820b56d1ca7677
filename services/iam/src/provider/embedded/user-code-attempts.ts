import { LoginThrottle } from "../../accounts/throttle/login-throttle.ts";

type ThrottleDatabase = ConstructorParameters<typeof LoginThrottle>[0];

/** Attempts at user codes are counted as if they were an account, by address. */
const ACCOUNT = "user codes of devices";

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
    return Math.max(1, Math.ceil(permission.retryAfterMs / 1000));
  }

  /** Takes an attempt back, since there is such a code. */
  async succeeded(address: string): Promise<void> {
    await this.#throttle.succeeded(ACCOUNT, address);
  }
}

/** Whether a form has a user code. */
export function hasUserCode(body: Uint8Array | undefined): boolean {
  return new URLSearchParams(Buffer.from(body ?? []).toString("utf8")).has("user_code");
}
