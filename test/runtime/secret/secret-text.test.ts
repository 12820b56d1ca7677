import { describe, expect, test } from "vitest";
import { readSecretText } from "../../../src/runtime/secret/read-secret-file.ts";

const TOKEN = { minLength: 16, inHeader: true };
const PASSWORD = { minLength: 1, inHeader: false };
const GOOD = "0123456789abcdef";
const bytes = (text: string) => new TextEncoder().encode(text);

describe("a token file must not contain", () => {
  test.each([
    ["no text", "", "is empty"],
    ["a line end", "\n", "is empty"],
    ["a line end of Windows", "\r\n", "is empty"],
    ["15 characters", GOOD.slice(1), "has 15 characters; a secret needs at least 16"],
    ["two line ends", `${GOOD}\n\n`, "has characters"],
    ["two lines", `${GOOD}\n${GOOD}`, "has characters"],
    ["a line end before it", `\n${GOOD}`, "has characters"],
    ["a space after it", `${GOOD} `, "has characters"],
    ["a space after it and a line end", `${GOOD} \n`, "has characters"],
    ["a carriage return", `${GOOD}\r`, "has characters"],
    ["a tab", `${GOOD}\t${GOOD}`, "has characters"],
    ["NUL", `${GOOD}\0`, "has characters"],
    ["a byte order mark", `\ufeff${GOOD}`, "has characters"],
    ["characters that are not ASCII", `${GOOD}ä`, "has characters"],
    ["too many characters", "x".repeat(4097), "is too long"],
    ["very many", "x".repeat(1_000_000), "is too long"],
  ])("%s", (_name, text, problem) => {
    const reading = readSecretText(bytes(text), TOKEN);
    expect(reading.text).toBeUndefined();
    expect(reading.problem).toMatch(new RegExp(`^${problem}`));
    expect(reading.problem).not.toContain(GOOD);
  });

  test("bytes that are not UTF-8", () => {
    expect(readSecretText(Buffer.alloc(32, 0xff), TOKEN).problem).toMatch(/^is not UTF-8/);
  });
});

test.each([
  ["alone", GOOD, GOOD],
  ["with a line end", `${GOOD}\n`, GOOD],
  ["with a line end of Windows", `${GOOD}\r\n`, GOOD],
  ["of the maximum length", `${"x".repeat(4096)}\n`, "x".repeat(4096)],
])("a token %s is taken", (_name, text, token) => {
  expect(readSecretText(bytes(text), TOKEN)).toEqual({ text: token });
});

test.each([
  ["pass word ä", "pass word ä"],
  [" x \n", " x "],
])("a password may be %j", (text, password) => {
  expect(readSecretText(bytes(text), PASSWORD)).toEqual({ text: password });
});

test.each(["a\nb", "a\tb", "a\u2028b", "\ufeffa", "a\u0085"])(
  "a password must not be %j",
  (text) => {
    expect(readSecretText(bytes(text), PASSWORD).problem).toMatch(/^has control characters/);
  },
);
