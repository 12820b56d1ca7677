import type { AddressQuota } from "../accounts/throttle/address-quota.ts";
import type { LoginThrottle } from "../accounts/throttle/login-throttle.ts";
import type { FactorStore } from "./factor-store.ts";
import type { Passkeys } from "./passkeys.ts";
import { newRecoveryCodes, recoveryCodeHash } from "./recovery-codes.ts";
import { totpStep } from "./totp.ts";

/** What became of a code. */
export type CodeResult =
  | { readonly outcome: "ok"; readonly method: "totp" | "recovery_code" }
  /** It is none of the moment, or was used. */
  | { readonly outcome: "wrong" }
  /** There were too many attempts. */
  | { readonly outcome: "slowed"; readonly retryAfterMs: number };

/** What second factors need. */
export interface FactorsOptions {
  readonly store: FactorStore;
  readonly passkeys: Passkeys;
  readonly throttle: Pick<LoginThrottle, "begin" | "succeeded">;
  /** Attempts on one account, from wherever: who guesses codes has its password. */
  readonly quota: Pick<AddressQuota, "use">;
  /** Whether an account must have a second factor. */
  readonly isRequired: (accountId: string, signal: AbortSignal) => Promise<boolean>;
  /** The name of the product, which authenticator apps show. */
  readonly issuer: string;
  readonly now?: () => number;
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
    const { throttle, quota } = this.#options;
    const key = `second factor of ${accountId}`;
    const permission = await throttle.begin(key, address);
    if (!permission.allowed) return { outcome: "slowed", retryAfterMs: permission.retryAfterMs };
    const wait = await quota.use(accountId);
    if (wait !== undefined) return { outcome: "slowed", retryAfterMs: wait };
    const method = await this.#methodOf(accountId, code);
    if (method === undefined) return { outcome: "wrong" };
    await throttle.succeeded(key, address);
    return { outcome: "ok", method };
  }

  /**
   * Adds an authenticator app whose secret somebody has just got.
   *
   * @returns the recovery codes, if they are the first ones; undefined if the code is another one
   */
  async addApp(accountId: string, secret: string, code: string) {
    const step = totpStep(secret, code, this.#now());
    if (step === undefined || !(await this.store.addApp(accountId, secret, step))) return undefined;
    return { codes: await this.#firstCodes(accountId) };
  }

  /** Adds a passkey that a browser has made; likewise. */
  async addPasskey(accountId: string, response: string, challenge: string) {
    if (!(await this.passkeys.add(accountId, response, challenge))) return undefined;
    return { codes: await this.#firstCodes(accountId) };
  }

  /** Makes new recovery codes in place of the former ones. They are shown once. */
  async newCodes(accountId: string): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    const hashes = codes.map((code) => recoveryCodeHash(accountId, code) ?? "");
    await this.store.replaceCodes(accountId, hashes);
    return codes;
  }

  /**
   * Removes a factor, and with the last one the recovery codes.
   *
   * @returns its kind; `required` if it is the last one of somebody who must have one; undefined if
   * there is none
   */
  async remove(id: string, accountId: string, signal: AbortSignal) {
    const known = await this.store.list(accountId);
    const isLast = known.length === 1 && known[0]?.id === id;
    if (isLast && (await this.isRequired(accountId, signal))) return "required" as const;
    const kind = await this.store.remove(id, accountId);
    if (isLast) await this.store.replaceCodes(accountId, []);
    return kind;
  }

  async #methodOf(accountId: string, code: string) {
    for (const { id, secret } of await this.store.apps(accountId)) {
      const step = totpStep(secret, code, this.#now());
      if (step !== undefined && (await this.store.use(id, step))) return "totp" as const;
    }
    const hash = recoveryCodeHash(accountId, code);
    const isUsed = hash !== undefined && (await this.store.useCode(accountId, hash));
    return isUsed ? ("recovery_code" as const) : undefined;
  }

  /** @returns none if the account has some */
  async #firstCodes(accountId: string): Promise<readonly string[]> {
    return (await this.store.countCodes(accountId)) > 0 ? [] : this.newCodes(accountId);
  }
}
