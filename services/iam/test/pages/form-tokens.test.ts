import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { OutsideValues } from "../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { FORM_TOKEN, FormTokens } from "../../src/pages/form-tokens.ts";

const HOUR = 3_600_000;
const PLACE = { form: "consent", browser: "a browser" };

function newBox(): SecretBox {
  return new SecretBox(EncryptionKeys.parse(randomBytes(32).toString("base64")));
}

const box = newBox();
let now = Date.parse("2026-05-05T12:00:00Z");
const log = { has: () => undefined, add: () => undefined };
const tokensWith = (keys: SecretBox) => new FormTokens(new OutsideValues(keys, log), () => now);
const tokens = tokensWith(box);
const fields = (...values: readonly string[]) =>
  new URLSearchParams(values.map((value): [string, string] => [FORM_TOKEN, value]));

test.each<[string, () => boolean]>([
  ["no token", () => tokens.isValid(fields(), PLACE)],
  ["an empty one", () => tokens.isValid(fields(""), PLACE)],
  ["text", () => tokens.isValid(fields("x"), PLACE)],
  ["a long one", () => tokens.isValid(fields("v1.".padEnd(100_000, "A")), PLACE)],
  [
    "the same one twice",
    () => {
      const token = tokens.issue(PLACE);
      return tokens.isValid(fields(token, token), PLACE);
    },
  ],
  [
    "that of another form",
    () => tokens.isValid(fields(tokens.issue({ ...PLACE, form: "login" })), PLACE),
  ],
  [
    "that of another browser",
    () => tokens.isValid(fields(tokens.issue({ ...PLACE, browser: "b" })), PLACE),
  ],
  ["one whose key cannot be one", () => tokens.isValid(fields("v1.x.AAAA"), PLACE)],
  [
    "another sealed value",
    () => {
      const place = { table: "iam_keys", column: "material", row: "x" };
      return tokens.isValid(fields(box.seal(String(now + HOUR), place)), PLACE);
    },
  ],
  [
    "a changed one",
    () => {
      const token = tokens.issue(PLACE);
      const end = token.endsWith("AA") ? "BB" : "AA";
      return tokens.isValid(fields(token.slice(0, -2) + end), PLACE);
    },
  ],
  [
    "one that is an hour old",
    () => {
      const token = tokens.issue(PLACE);
      now += HOUR;
      return tokens.isValid(fields(token), PLACE);
    },
  ],
])("a form with %s is refused [IDP-12]", (_what, isValid) => {
  expect(isValid()).toBe(false);
});

test("a form with its token is accepted, by every replica, as often as it is sent", () => {
  const token = tokens.issue(PLACE);
  now += HOUR - 1;
  const replica = tokensWith(box);
  for (const one of [tokens, replica]) expect(one.isValid(fields(token), PLACE)).toBe(true);
});

test("a form of a replica whose key is missing here can be sent again there", () => {
  const token = tokensWith(newBox()).issue(PLACE);
  expect(() => tokens.isValid(fields(token), PLACE)).toThrow(
    expect.objectContaining({ code: "ABORTED" }),
  );
});
