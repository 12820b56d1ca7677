import { expect, test } from "vitest";
import {
  displayNameProblem,
  emailProblem,
  usernameKey,
  usernameProblem,
} from "../../../src/people/accounts/account-texts.ts";

test.each(["al", "a", "Alice", "alice.baker", "alice+test@example.com", "艾丽丝", "björn", "7of9"])(
  "%j can be a user name",
  (name) => expect(usernameProblem(name)).toBeUndefined(),
);

const FORM =
  "must consist of letters, digits and . _ @ + -, and begin and end with a letter or digit";

test.each([
  ["", "is required"],
  [" alice", FORM],
  ["alice ", FORM],
  ["al ice", FORM],
  [".alice", FORM],
  ["alice-", FORM],
  ["alice\n", FORM],
  ["alice\u202e", FORM],
  ["alice\0", FORM],
  ["alice#member", FORM],
  ["*", FORM],
  ["<b>", FORM],
  ["a".repeat(65), "must have at most 64 characters"],
])("%j cannot: %s", (name, problem) => expect(usernameProblem(name)).toBe(problem));

test.each([
  ["Alice", "alice"],
  ["ＡＬＩＣＥ", "alice"],
  ["bjo\u0308rn", "BJÖRN"],
  ["ﬁn", "FIN"],
])("%j and %j are one user name", (one, other) => {
  expect(usernameKey(one)).toBe(usernameKey(other));
});

test.each([
  "alice@example.com",
  "a.b+c@sub.example.co",
  "o'neil@example.com",
  "björn@bücher.example",
])("%j can be an e-mail address", (email) => expect(emailProblem(email)).toBeUndefined());

test.each([
  ["", "is required"],
  ["alice", "is not a valid e-mail address"],
  ["alice@", "is not a valid e-mail address"],
  ["@example.com", "is not a valid e-mail address"],
  ["alice@localhost", "is not a valid e-mail address"],
  ["alice@exa mple.com", "is not a valid e-mail address"],
  ["alice@example.com\n", "is not a valid e-mail address"],
  ["alice@example.com,bob@example.com", "is not a valid e-mail address"],
  ["Alice <alice@example.com>", "is not a valid e-mail address"],
  ["a..b@example.com", "is not a valid e-mail address"],
  ["alice@-example.com", "is not a valid e-mail address"],
  [`${"a".repeat(250)}@example.com`, "must have at most 254 bytes"],
])("%j cannot: %s", (email, problem) => expect(emailProblem(email)).toBe(problem));

test("an address that is nearly valid is refused in linear time", () => {
  expect(emailProblem(`a@${"a.".repeat(110)}`)).toBe("is not a valid e-mail address");
  expect(emailProblem(`${"a.".repeat(110)}@`)).toBe("is not a valid e-mail address");
});

test.each([
  ["Alice Baker", undefined],
  ["艾丽丝", undefined],
  ["", "is required"],
  ["  ", "is required"],
  ["a\u202eb", "must not contain control characters"],
  ["a\nb", "must not contain control characters"],
  ["x".repeat(129), "must have at most 128 characters"],
])("the display name %j: %s", (name, problem) => expect(displayNameProblem(name)).toBe(problem));
