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
  "א1",
  "דוד.כהן-2",
  "דָּוִד",
  "דָּ",
  "محمد١٢",
  "محمد۱۲",
  "ߊߋ߁",
  "a1۱",
  "۱۲",
  "a\u0301",
])("%j can be a user name", (name) => expect(usernameProblem(name)).toBeUndefined());

const FORM =
  "must consist of letters, digits and . _ @ + -, and begin and end with a letter or digit";
const INVISIBLE = "must not contain invisible characters";
const PLAIN = "must have the plain form of each letter and digit, such as fi in place of ﬁ";
const DIRECTION =
  "must, with right-to-left letters or digits, begin with such a letter, and have no other letters and one kind of digits";

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
  ["alice.\u0301", FORM],
  ["דוד.\u05b4", FORM],
  ["\u05b4דוד", FORM],
  ["1א", DIRECTION],
  ["１א", DIRECTION],
  ["aא", DIRECTION],
  ["אa", DIRECTION],
  ["אaב", DIRECTION],
  ["a.א", DIRECTION],
  ["א@example", DIRECTION],
  ["אद", DIRECTION],
  ["א\u0cbf", DIRECTION],
  ["א\u0903", DIRECTION],
  ["א佐", DIRECTION],
  ["a١", DIRECTION],
  ["١٢", DIRECTION],
  ["١ب", DIRECTION],
  ["ب١1", DIRECTION],
  ["ب١۱", DIRECTION],
  ["a١۱", DIRECTION],
  ["١۱", DIRECTION],
  ["ب1۱", DIRECTION],
  ["߁ߊ", DIRECTION],
  ["a߁", DIRECTION],
  ["\u{10d40}a", DIRECTION],
  // Contextual characters, also where RFC 5892 has them (A.1 to A.7).
  ["ب\u200cب", INVISIBLE],
  ["क्\u200dष", INVISIBLE],
  ["l·l", FORM],
  ["͵α", FORM],
  ["א׳", FORM],
  ["א״ב", FORM],
  ["ア・ア", FORM],
  ["*", FORM],
  ["<b>", FORM],
  ["a".repeat(65), "must have at most 64 characters"],
])("%j cannot: %s", (name, problem) => expect(usernameProblem(name)).toBe(problem));

/** Characters by their Bidi_Class, as Unicode has it. */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  L: ["a", "佐"],
  R: ["א", "ߊ"],
  AL: ["ب"],
  AN: ["١"],
  EN: ["1", "۱"],
  NSM: ["\u05b4"],
  CS: ["."],
  ES: ["+"],
  ON: ["_"],
};
const CLASS_OF = new Map(
  Object.entries(CLASSES).flatMap(([type, all]) => all.map((one) => [one, type] as const)),
);

/** RFC 5893, section 2, rule by rule, for names to which RFC 8265 applies it. */
function followsBidiRule(name: string): boolean {
  const types = [...name].map((one) => CLASS_OF.get(one) ?? expect.fail());
  const has = (...some: string[]) => types.some((type) => some.includes(type));
  if (!has("R", "AL", "AN")) return true;
  const last = types.findLast((type) => type !== "NSM") ?? "";
  const [first = ""] = types;
  return (
    ["R", "AL"].includes(first) &&
    !has("L") &&
    ["R", "AL", "EN", "AN"].includes(last) &&
    !(has("EN") && has("AN"))
  );
}

/** All names of up to so many of the characters. */
function* namesOf(length: number, characters: readonly string[]): Generator<string> {
  if (length === 0) return yield "";
  for (const rest of namesOf(length - 1, characters)) {
    if (rest.length === length - 1) for (const one of characters) yield rest + one;
    yield rest;
  }
}

test("of all names, those that break the Bidi Rule are refused, and for it no others but with two kinds of digits", () => {
  const wrong = [...namesOf(4, [...CLASS_OF.keys()])].filter((name) => {
    const problem = usernameProblem(name);
    if (!followsBidiRule(name)) return problem === undefined;
    return problem === DIRECTION && !(name.includes("1") && name.includes("۱"));
  });
  expect(wrong).toEqual([]);
});

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
  `${"a".repeat(64)}@example.com`,
  `${"ö".repeat(32)}@example.com`,
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
  [`${"a".repeat(65)}@example.com`, "must have at most 64 bytes before the @"],
  [`${"ö".repeat(32)}a@example.com`, "must have at most 64 bytes before the @"],
])("%j cannot: %s", (email, problem) => expect(emailProblem(email)).toBe(problem));

test("an address that is nearly valid is refused in linear time", () => {
  expect(emailProblem(`a@${"a.".repeat(110)}`)).toBe("is not a valid e-mail address");
  expect(emailProblem(`${"a.".repeat(110)}@`)).toBe("is not a valid e-mail address");
});

const SPACED = "must not begin or end with white space";
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
  ["Ops  ", SPACED],
  [" Ops", SPACED],
  ["Ops\u00a0", SPACED],
  ["\u3000Ops", SPACED],
  ["👩\u200d🚀", undefined],
  ["x".repeat(129), "must have at most 128 characters"],
])("the display name %j: %s", (name, problem) => expect(displayNameProblem(name)).toBe(problem));
