import type { Account } from "../../src/people/accounts/account.ts";
import type {
  Accounts,
  PasswordAttempt,
  PasswordResult,
} from "../../src/people/accounts/accounts.ts";

export const ALICE: Account = {
  id: "0d4f63b4-3a0c-4b67-9d3b-0f5b3b1f7a11",
  subjectType: "user",
  username: "alice",
  displayName: "Alice <Liddell>",
  email: "alice@example.com",
  organizationId: "acme",
  disabled: false,
};
export const PASSWORD = "correct horse battery staple";

/** Accounts for tests, all with the same password. */
export class MemoryAccounts implements Accounts {
  readonly accounts = new Map<string, Account>([[ALICE.id, ALICE]]);
  readonly attempts: PasswordAttempt[] = [];
  passwordVersion = 0;
  /** In place of checking the password. */
  answer: PasswordResult | undefined;

  add(account: Account): void {
    this.accounts.set(account.id, account);
  }

  async find(id: string): Promise<Account | undefined> {
    return this.accounts.get(id);
  }

  async authenticate(attempt: PasswordAttempt): Promise<PasswordResult> {
    this.attempts.push(attempt);
    if (this.answer !== undefined) return this.answer;
    const account = [...this.accounts.values()].find((one) => one.username === attempt.username);
    if (account === undefined || account.disabled || attempt.password !== PASSWORD) {
      return { outcome: "wrong" };
    }
    return { outcome: "ok", account, passwordVersion: this.passwordVersion };
  }

  async holdPassword(_: unknown, id: string, passwordVersion: number): Promise<boolean> {
    return this.accounts.has(id) && passwordVersion === this.passwordVersion;
  }

  async endLogins(): Promise<void> {
    this.passwordVersion++;
  }
}
