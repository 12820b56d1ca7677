import { expect, test } from "vitest";
import {
  displayNameProblem,
  emailProblem,
  usernameKey,
} from "../../../src/people/accounts/account-texts.ts";
import { usernameProblem } from "../../../src/people/accounts/username-problem.ts";

test.each([
  "al",
  "a",
  "Alice",
  "alice.baker",
  "alice+test@example.com",
  "艾丽丝",
  "björn",
  "bjo\u0308rn",
  "José",
  "müller",
  "7of9",
  "たなか",
  "タナカ",
  "ﾀﾅｶ",
  "ｶﾞ",
  "ＡＬＩＣＥ",
  "佐々木〇",
  "ليلى",
  "علي٧",
  "νίκος",
  "Иван",
  "김철수",
  "रवि",
  "דוד",
])("%j can be a user name", (name) => expect(usernameProblem(name)).toBeUndefined());

const FORM =
  "must consist of letters, digits and . _ @ + -, and begin and end with a letter or digit";
const INVISIBLE = "must not contain invisible characters";
const PLAIN = "must have the plain form of each letter and digit, such as fi in place of ﬁ";

test.each([
  ["", "is required"],
  [" alice", FORM],
  ["alice ", FORM],
  ["al ice", FORM],
  [".alice", FORM],
  ["alice-", FORM],
  ["alice\n", FORM],
  ["alice\u202e", INVISIBLE],
  ["alice\u200b", INVISIBLE],
  ["alice\u3164", INVISIBLE],
  ["alice\uffa0", INVISIBLE],
  ["alice\u034f", INVISIBLE],
  ["al\u034fice", INVISIBLE],
  ["alice\ufe0f", INVISIBLE],
  ["alice\u115f", INVISIBLE],
  ["alice\u17b4", INVISIBLE],
  ["al\u{e0001}ice", INVISIBLE],
  ["\u3164", INVISIBLE],
  ["\u212aate", PLAIN],
  ["ﬁx", PLAIN],
  ["ⅷ", PLAIN],
  ["x²", PLAIN],
  ["①", PLAIN],
  ["ſam", PLAIN],
  ["ᴬlice", PLAIN],
  ["𝐚lice", PLAIN],
  ["ﻟﻴﻠﻰ", PLAIN],
  ["ㄱ", PLAIN],
  ["\u1100\u1161", PLAIN],
  ["\uffa1", PLAIN],
  ["ali\u0640", PLAIN],
  ["alice\u20dd", PLAIN],
  ["alice\u0378", FORM],
  ["alice\ue000", FORM],
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

const UNSEEN = "must contain at least one visible character";

test.each([
  ["Alice Baker", undefined],
  ["艾丽丝", undefined],
  ["", "is required"],
  ["  ", "is required"],
  ["a\u202eb", "must not contain control characters"],
  ["a\nb", "must not contain control characters"],
  ["\u200b", UNSEEN],
  ["\u3164", UNSEEN],
  ["\u2800", UNSEEN],
  ["\u034f \ufe0f", UNSEEN],
  ["a\u200bb", undefined],
  ["👩\u200d🚀", undefined],
  ["x".repeat(129), "must have at most 128 characters"],
])("the display name %j: %s", (name, problem) => expect(displayNameProblem(name)).toBe(problem));
