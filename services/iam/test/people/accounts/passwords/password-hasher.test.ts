import { expect, test } from "vitest";
import { PasswordHasher } from "../../../../src/people/accounts/passwords/password-hasher.ts";
import { CHEAP } from "../../../support/hash-cost.ts";

const hasher = new PasswordHasher(CHEAP);

test("a password matches its hash, and no other does [IDP-1]", async () => {
  const stored = await hasher.hash("correct horse battery");
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await hasher.matches("correct horse battery", stored)).toEqual({
    matches: true,
    isOutdated: false,
  });
  for (const wrong of [
    "",
    "correct horse batter",
    "Correct horse battery",
    "correct horse battery ",
  ]) {
    expect((await hasher.matches(wrong, stored)).matches).toBe(false);
  }
});

test("the same password has another hash each time", async () => {
  expect(await hasher.hash("correct horse battery")).not.toBe(
    await hasher.hash("correct horse battery"),
  );
});

test("the same characters in another encoding match", async () => {
  const stored = await hasher.hash("caf\u00e9 au lait, please");
  expect((await hasher.matches("cafe\u0301 au lait, please", stored)).matches).toBe(true);
});

test("without an account nothing matches", async () => {
  expect((await hasher.matches("correct horse battery", undefined)).matches).toBe(false);
});

test("a hash of another cost matches, and is reported as outdated", async () => {
  const stored = await new PasswordHasher({ ...CHEAP, passes: 2 }).hash("correct horse battery");
  expect(await hasher.matches("correct horse battery", stored)).toEqual({
    matches: true,
    isOutdated: true,
  });
});

test("a hash of argon2's reference program matches", async () => {
  // argon2 somesalt -id -t 2 -m 16 -p 1
  const stored =
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  expect(await hasher.matches("password", stored)).toEqual({ matches: true, isOutdated: true });
});

test.each([
  [""],
  ["correct horse battery"],
  ["$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"],
  [
    "$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b27TgRdescudvJCsgt3ub+b27Tg",
  ],
  [
    "$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b27TgRdescudvJCsgt3ub+b27Tg",
  ],
  ["$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$"],
])("%j is not a hash, which is an error and no match", async (stored) => {
  await expect(hasher.matches("correct horse battery", stored)).rejects.toThrow(
    "the stored password is not an argon2id hash in the PHC string format",
  );
});
