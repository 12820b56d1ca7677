import { expect, test } from "vitest";
import { passwordProblem } from "../../../../src/people/accounts/passwords/password-rules.ts";

const OWNER = { username: "Alice.Baker", email: "alice@example.com" };
const COMMON = "is one of the common ones, which are guessed first";
const OWN = "must not consist of the user name or the e-mail address";

test.each([
  ["correct horse battery staple"],
  ["Str0ng-Passw0rd!2024"],
  ["S3cure-passw0rd-42"],
  ["vTq9#mLx2$Rw"],
  ["пароль для моей кошки"],
  ["一二三四五六七八九十百千"],
  ["🐈🐕🦆🐎🐖🐑🐓🦌🦔🦊🐢🐙"],
  ["x".repeat(8) + "abcdefgh".repeat(63)],
  ["alice has a long sentence here"],
])("%j may be set", async (password) => {
  expect(await passwordProblem(password, OWNER)).toBeUndefined();
});

test.each([
  ["", "must have at least 12 characters"],
  ["vTq9#mLx2$R", "must have at least 12 characters"],
  ["🐈🐕🦆🐎🐖🐑", "must have at least 12 characters"],
  // One character in two code points.
  ["e\u0301".repeat(11), "must have at least 12 characters"],
  ["abcdefgh".repeat(65), "must have at most 512 bytes"],
  ["aaaaaaaaaaaa", "must have at least 5 different characters"],
  ["abababababababab", "must have at least 5 different characters"],
  ["a long enough\none", "must not contain control characters"],
  ["a long enough \0 one", "must not contain control characters"],
  ["a long enough \ud800 one", "must be valid Unicode"],
  ["123456789012", COMMON],
  ["1q2w3e4r5t6y", COMMON],
  ["password1234", COMMON],
  ["PassWord1234", COMMON],
  ["P4ssw0rd1234", COMMON],
  ["passwordqwerty", COMMON],
  ["letmein123456", COMMON],
  ["Administrator", COMMON],
  ["administrator!", COMMON],
  ["alice.baker12", OWN],
  ["ALICE.BAKERalice.baker", OWN],
  ["alice@example.com", OWN],
  ["1alice@example.com2", OWN],
])("%j may not: %s", async (password, problem) => {
  expect(await passwordProblem(password, OWNER)).toBe(problem);
});
