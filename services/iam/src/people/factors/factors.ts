import type { LoginAttempts } from "../accounts/throttle/login-attempts.ts";
import type { LoginThrottle } from "../accounts/throttle/login-throttle.ts";
import type { Quota } from "../accounts/throttle/quota.ts";
import type { FactorOwner } from "./factor-owner.ts";
import type { AdditionResult, FactorAddition, FactorStore, LostOwner } from "./factor-store.ts";
import { isTotpCode, newRecoveryCodes, recoveryCodeHash, totpStep } from "./one-time-codes.ts";
import type { Passkeys } from "./passkeys.ts";

/** What became of a code. */
export type CodeResult =
  | { readonly outcome: "ok"; readonly method: "totp" | "recovery_code" }
  /** It is none of the moment, or was used. */
  | { readonly outcome: "wrong" }
  /** Too many codes of apps were wrong, one after the other: see `MOST_FAILURES`. */
  | { readonly outcome: "refused" }
  /** There were too many attempts. */
  | { readonly outcome: "slowed"; readonly retryAfterMs: number };

/** What second factors need. */
export interface FactorsOptions {
  readonly store: FactorStore;
  readonly passkeys: Passkeys;
  readonly throttle: Pick<LoginThrottle, "begin" | "succeeded">;
  /** Attempts on one account, from wherever: who guesses codes has its password. */
  readonly quota: Pick<Quota, "use" | "wait">;
  /** Whether an account must have a second factor. */
  readonly isRequired: (accountId: string, signal: AbortSignal) => Promise<boolean>;
  /** The name of the product, which authenticator apps show. */
  readonly issuer: string;
  readonly now?: () => number;
  /** Counts the attempts, for the metrics. */
  readonly counts?: LoginAttempts;
}

/** The second factors of people: authenticator apps, recovery codes and passkeys. */
export class Factors {
  readonly #options: FactorsOptions;
  readonly #now: () => number;

  constructor(options: FactorsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get store(): FactorStore {
    return this.#options.store;
  }

  get passkeys(): Passkeys {
    return this.#options.passkeys;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  /** Whether an account must have a second factor. */
  isRequired(accountId: string, signal: AbortSignal): Promise<boolean> {
    return this.#options.isRequired(accountId, signal);
  }

  /** Checks a code of an app, or a recovery code; the attempt is counted. Each works once. */
  async verifyCode(accountId: string, code: string, address: string): Promise<CodeResult> {
    const result = await this.#verifyCode(accountId, code, address);
    const counted = {
      ok: "succeeded",
      wrong: "failed",
      slowed: "slowed",
      refused: "slowed",
    } as const;
    this.#options.counts?.count("second_factor", counted[result.outcome]);
    return result;
  }

  /** Checks what a passkey has signed, as `Passkeys.verify`; the attempt is counted. */
  async verifyPasskey(
    accountId: string | undefined,
    response: string,
    challenge: string,
  ): Promise<string | undefined> {
    const owner = await this.passkeys.verify(accountId, response, challenge);
    if (owner !== undefined) await this.store.forgetFailures(owner);
    const method = accountId === undefined ? "passkey" : "second_factor";
    this.#options.counts?.count(method, owner === undefined ? "failed" : "succeeded");
    return owner;
  }

  async #verifyCode(accountId: string, code: string, address: string): Promise<CodeResult> {
    const { throttle, quota, store } = this.#options;
    const isOfApp = isTotpCode(code);
    if (isOfApp && (await store.areAppsRefused(accountId))) return { outcome: "refused" };
    const key = `second factor of ${accountId}`;
    // First, and without counting: attempts that others have used up are not failures of this address. Nobody guesses a
    // recovery code, so it is always looked at, however many attempts somebody else has used up.
    const over = isOfApp ? await quota.wait(accountId) : undefined;
    if (over !== undefined) return { outcome: "slowed", retryAfterMs: over };
    const permission = await throttle.begin(key, address);
    if (!permission.allowed) return { outcome: "slowed", retryAfterMs: permission.retryAfterMs };
    const wait = isOfApp ? await quota.use(accountId) : undefined;
    if (wait !== undefined) return { outcome: "slowed", retryAfterMs: wait };
    const outcome = await (isOfApp
      ? this.#useAppCode(accountId, code)
      : this.#useRecoveryCode(accountId, code));
    if (outcome === "wrong" || outcome === "refused") return { outcome };
    await store.forgetFailures(accountId);
    await throttle.succeeded(key, address);
    return { outcome: "ok", method: outcome };
  }

  async #useAppCode(accountId: string, code: string) {
    // Before it is looked at: of many at once, no more are looked at than may be.
    if (!(await this.store.countFailure(accountId))) return "refused";
    for (const { id, secret } of await this.store.apps(accountId)) {
      const step = totpStep(secret, code, this.#now());
      if (step !== undefined && (await this.store.use(id, step))) return "totp";
    }
    return "wrong";
  }

  async #useRecoveryCode(accountId: string, code: string) {
    const hash = recoveryCodeHash(accountId, code);
    const isUsed = hash !== undefined && (await this.store.useCode(accountId, hash));
    return isUsed ? "recovery_code" : "wrong";
  }

  /**
   * Adds an authenticator app whose secret somebody has just got.
   *
   * @returns the recovery codes, if it is the first factor; `known` if the account has it; undefined if the code is
   * another one, or the account has too many
   */
  async addApp(owner: FactorOwner, secret: string, code: string) {
    const added = await this.#addApp(secret, code, { owner });
    return added === "not_first" ? undefined : added;
  }

  /** Adds the first factor of an account; likewise. @returns `not_first` if it has another one */
  addFirstApp(owner: FactorOwner, secret: string, code: string) {
    return this.#addApp(secret, code, { owner, onlyAsFirst: true });
  }

  /** Adds a passkey that a browser has made; likewise. */
  async addPasskey(owner: FactorOwner, response: string, challenge: string) {
    const { codes, hashes } = codesOf(owner.accountId);
    const addition = { owner, firstCodes: hashes };
    const result = await this.passkeys.add(response, challenge, addition);
    const added = addedOf(result, codes);
    return added === "not_first" || added === "known" ? undefined : added;
  }

  /**
   * Makes new recovery codes in place of the former ones. They are shown once.
   *
   * @param version of the former ones, as the store has it
   * @returns `changed` if the codes are no longer those; undefined if the account has no factor
   */
  async newCodes(
    owner: FactorOwner,
    version: string,
  ): Promise<readonly string[] | "changed" | LostOwner | undefined> {
    const { codes, hashes } = codesOf(owner.accountId);
    const result = await this.store.replaceCodes(owner, hashes, version);
    if (result === "lost_owner" || result === "changed") return result;
    return result === "replaced" ? codes : undefined;
  }

  /**
   * Removes a factor, and with the last one the recovery codes.
   *
   * @returns its kind; `required` if it is the last one of somebody who must have one; undefined if
   * there is none
   */
  async remove(id: string, owner: FactorOwner, signal: AbortSignal) {
    const kind = await this.store.remove(id, owner, true);
    if (kind !== "last") return kind;
    // The engine is asked outside of the transaction, which would hold the account while it waits.
    if (await this.isRequired(owner.accountId, signal)) return "required" as const;
    const last = await this.store.remove(id, owner, false);
    return last === "last" ? undefined : last;
  }

  async #addApp(secret: string, code: string, to: Omit<FactorAddition, "firstCodes">) {
    const step = totpStep(secret, code, this.#now());
    if (step === undefined) return undefined;
    const { codes, hashes } = codesOf(to.owner.accountId);
    const result = await this.store.addApp(secret, step, { ...to, firstCodes: hashes });
    return addedOf(result, codes);
  }
}

/** An addition as it is reported: the recovery codes are those of the first factor. */
function addedOf(result: AdditionResult, codes: readonly string[]) {
  if (result === "refused") return undefined;
  if (result === "not_first" || result === "known" || result === "lost_owner") return result;
  return { codes: result === "first" ? codes : [] };
}

/** New recovery codes with their hashes. */
function codesOf(accountId: string) {
  const codes = newRecoveryCodes();
  return { codes, hashes: codes.map((code) => recoveryCodeHash(accountId, code) ?? "") };
}
