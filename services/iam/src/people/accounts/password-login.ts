import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "svc-access/runtime";
import { QueueFullError } from "../../ground/queue/work-queue.ts";
import { usernameKey } from "./account-texts.ts";
import type { PasswordAttempt, PasswordResult } from "./accounts.ts";
import type { LocalAccounts } from "./local-accounts.ts";
import type { PasswordHasher } from "./passwords/password-hasher.ts";
import type { LoginAttempts, LoginOutcome } from "./throttle/login-attempts.ts";
import type { LoginThrottle } from "./throttle/login-throttle.ts";

/** A longer one is not a password of this service, and is not worth hashing or normalizing. */
export const LONGEST_PASSWORD_BYTES = 1024;
/** A longer one is not a user name. */
const LONGEST_USERNAME_BYTES = 512;

/** Of the time of a call, what a pause leaves for the queue, the hash and the database. */
const RESERVE_MS = 2000;
/** And what the queue leaves for the answer. */
const ANSWER_MS = 500;
/** A call may have no deadline, but nobody waits that long. */
const LONGEST_MS = 600_000;

/** How results are counted; a password that was not checked is not. */
const COUNTED: Readonly<Record<PasswordResult["outcome"], LoginOutcome | undefined>> = {
  ok: "succeeded",
  wrong: "failed",
  slowed: "slowed",
  busy: undefined,
};

/** What checking passwords needs. */
export interface PasswordLoginOptions {
  readonly accounts: LocalAccounts;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
  /** Counts the attempts, for the metrics. */
  readonly counts?: LoginAttempts;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Waits, for tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Why a password was not checked, for the log. */
export function passwordsQueueFull(): ServiceError {
  return new ServiceError("UNAVAILABLE", "too many passwords wait to be checked");
}

/** Checks passwords, slowly for those who guess, and without saying which accounts there are. */
export class PasswordLogin {
  readonly #options: PasswordLoginOptions;

  constructor(options: PasswordLoginOptions) {
    this.#options = options;
  }

  /**
   * Checks a password; the attempt is counted by account and by address. An account that is attacked is answered
   * later, but in the time of the call: otherwise nobody could log in to it.
   */
  async authenticate(attempt: PasswordAttempt): Promise<PasswordResult> {
    const result = await this.#authenticate(attempt);
    const counted = COUNTED[result.outcome];
    if (counted !== undefined) this.#options.counts?.count("password", counted);
    return result;
  }

  async #authenticate(attempt: PasswordAttempt): Promise<PasswordResult> {
    const { username, password, address, signal, deadline } = attempt;
    const isAbsurd =
      Buffer.byteLength(username) > LONGEST_USERNAME_BYTES ||
      Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES;
    if (isAbsurd) return { outcome: "wrong" };
    const { throttle, now = Date.now, wait = pause } = this.#options;
    const key = usernameKey(username);
    const permission = await throttle.begin(key, address);
    if (!permission.allowed) return { outcome: "slowed", retryAfterMs: permission.retryAfterMs };
    const pauseMs = Math.min(permission.pauseMs, deadline - now() - RESERVE_MS);
    if (pauseMs > 0) await wait(pauseMs, signal);
    const left = Math.min(Math.max(0, deadline - now() - ANSWER_MS), LONGEST_MS);
    const late = AbortSignal.timeout(Math.floor(left));
    try {
      const result = await this.#compare(key, password, AbortSignal.any([signal, late]));
      if (result.outcome === "ok") await throttle.succeeded(key, address);
      return result;
    } catch (error) {
      const isTooLate = error === late.reason && !signal.aborted;
      if (isTooLate || error instanceof QueueFullError) return { outcome: "busy" };
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

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
