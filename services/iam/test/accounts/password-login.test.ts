import type { Kysely } from "svc-access/database";
import { beforeEach, expect, test } from "vitest";
import { LocalAccounts } from "../../src/accounts/local-accounts.ts";
import { PasswordLogin } from "../../src/accounts/password-login.ts";
import { PasswordHasher } from "../../src/accounts/passwords/password-hasher.ts";
import { LoginThrottle } from "../../src/accounts/throttle/login-throttle.ts";
import { WorkQueue } from "../../src/queue/work-queue.ts";
import type { UserTables } from "../../src/store/user-tables.ts";
import { sqlite } from "../support/databases.ts";
import { CHEAP } from "../support/hash-cost.ts";

const PASSWORD = "correct horse battery staple";
const HERE = "203.0.113.7";
const { signal } = new AbortController();

let database: Kysely<UserTables>;
let accounts: LocalAccounts;
let now = 1_800_000_000_000;

beforeEach(async () => {
  database = (await sqlite()).open().kysely as unknown as Kysely<UserTables>;
  accounts = new LocalAccounts(database, "acme");
  const passwordHash = await new PasswordHasher(CHEAP).hash(PASSWORD);
  const alice = { username: "Alice", displayName: "Alice", email: "alice@example.com" };
  await accounts.create({ ...alice, passwordHash });
});

function loginWith(hasher = new PasswordHasher(CHEAP)): PasswordLogin {
  return new PasswordLogin({ accounts, hasher, throttle: new LoginThrottle(database, () => now) });
}

test("the right password is accepted, with the user name in any letter case", async () => {
  const result = await loginWith().authenticate({
    username: "aLICE",
    password: PASSWORD,
    address: HERE,
    signal,
  });
  expect(result).toMatchObject({ outcome: "ok", account: { username: "Alice" } });
});

test.each([
  ["another password", "alice", "correct horse battery"],
  ["an empty one", "alice", ""],
  ["an account that does not exist", "bob", PASSWORD],
  ["an empty user name", "", PASSWORD],
  ["a user name that cannot be one", "*\0", PASSWORD],
  ["a user name of a megabyte", "a".repeat(1_000_000), PASSWORD],
  ["a password of a megabyte", "alice", "a".repeat(1_000_000)],
])("%s is answered alike [IDP-26]", async (_, username, password) => {
  const attempt = { username, password, address: HERE, signal };
  expect(await loginWith().authenticate(attempt)).toEqual({ outcome: "wrong" });
});

test("a disabled account is answered like a wrong password [IDP-26]", async () => {
  await database.updateTable("iam_users").set({ disabled: 1 }).execute();
  const attempt = { username: "alice", password: PASSWORD, address: HERE, signal };
  expect(await loginWith().authenticate(attempt)).toEqual({ outcome: "wrong" });
});

test("after five failures the right password has to wait too, and is accepted then", async () => {
  const login = loginWith();
  const attempt = { username: "alice", password: PASSWORD, address: HERE, signal };
  for (let count = 0; count < 5; count++) {
    expect(await login.authenticate({ ...attempt, password: "wrong" })).toEqual({
      outcome: "wrong",
    });
  }
  expect(await login.authenticate(attempt)).toEqual({ outcome: "slowed", retryAfterMs: 1000 });
  // It is the same for a name that nobody has.
  const nobody = { ...attempt, username: "nobody" };
  for (let count = 0; count < 5; count++) await login.authenticate(nobody);
  expect(await login.authenticate(nobody)).toEqual({ outcome: "slowed", retryAfterMs: 1000 });
  now += 1000;
  expect(await login.authenticate(attempt)).toMatchObject({ outcome: "ok" });
});

test("when too many passwords are being checked, the next one is refused", async () => {
  const hasher = new PasswordHasher(CHEAP, new WorkQueue(0, 0));
  const attempt = { username: "alice", password: PASSWORD, address: HERE, signal };
  expect(await loginWith(hasher).authenticate(attempt)).toEqual({ outcome: "busy" });
});

test("a hash of another cost is replaced at the next login", async () => {
  const before = (await accounts.findForLogin("alice"))?.passwordHash;
  const attempt = { username: "alice", password: PASSWORD, address: HERE, signal };
  await loginWith(new PasswordHasher({ ...CHEAP, passes: 2 })).authenticate(attempt);
  const after = (await accounts.findForLogin("alice"))?.passwordHash;
  expect(after).not.toBe(before);
  expect(after).toContain("t=2");
  expect(await loginWith().authenticate(attempt)).toMatchObject({ outcome: "ok" });
});
