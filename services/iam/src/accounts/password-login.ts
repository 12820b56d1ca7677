import { setTimeout as sleep } from "node:timers/promises";
import { QueueFullError } from "../queue/work-queue.ts";
import type { PasswordAttempt, PasswordResult } from "./accounts.ts";
import type { LocalAccounts } from "./local-accounts.ts";
import type { PasswordHasher } from "./passwords/password-hasher.ts";
import type { LoginThrottle } from "./throttle/login-throttle.ts";
import { usernameKey } from "./username.ts";

/** A longer one is not a password of this service, and is not worth hashing or normalizing. */
export const LONGEST_PASSWORD_BYTES = 1024;
/** A longer one is not a user name. */
const LONGEST_USERNAME_BYTES = 512;

/** What checking passwords needs. */
export interface PasswordLoginOptions {
  readonly accounts: LocalAccounts;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
}

/** Checks passwords, slowly for those who guess, and without saying which accounts there are. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
  }

  /** Checks a password; the attempt is counted by account and by address. */
  async authenticate(attempt: PasswordAttempt): Promise<PasswordResult> {
    const { username, password, address, signal } = attempt;
    const isAbsurd =
      Buffer.byteLength(username) > LONGEST_USERNAME_BYTES ||
      Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES;
    if (isAbsurd) return { outcome: "wrong" };
    const { throttle } = this.#options;
    const key = usernameKey(username);
    const permission = await throttle.begin(key, address);
    if (!permission.allowed) return { outcome: "slowed", retryAfterMs: permission.retryAfterMs };
    if (permission.pauseMs > 0) await sleep(permission.pauseMs, undefined, { signal });
    try {
      const result = await this.#compare(key, password, signal);
      if (result.outcome === "ok") await throttle.succeeded(key, address);
      return result;
    } catch (error) {
      if (error instanceof QueueFullError) return { outcome: "busy" };
      throw error;
    }
  }

  async #compare(key: string, password: string, signal: AbortSignal): Promise<PasswordResult> {
    const { accounts, hasher } = this.#options;
    const found = await accounts.findForLogin(key);
    const { matches, isOutdated } = await hasher.matches(password, found?.passwordHash, signal);
    if (!matches || found === undefined || found.account.disabled) return { outcome: "wrong" };
    if (isOutdated) {
      const { id } = found.account;
      await accounts.replaceHash(id, found.passwordHash, await hasher.hash(password, signal));
    }
    return { outcome: "ok", account: found.account, passwordVersion: found.passwordVersion };
  }
}
