import { expect, test } from "vitest";
import { safeText } from "../../../src/runtime/audit/event/audit-event.ts";
import { decodeHeaderText } from "../../../src/runtime/authn/identity/identity-text.ts";
import { principalOfClaims } from "../../../src/runtime/authn/jwt/jwt-verifier.ts";
import { cleanLine, cleanText } from "../../../src/runtime/logging/redaction/redact-text.ts";

/** A header as Node.js returns it. */
const header = (text: string) => decodeHeaderText(Buffer.from(text).toString("latin1"));
const nameOf = (name: string) => principalOfClaims({ name }, "alice", "user").name;

/** The first and last character of each range. */
const unprintable =
  "0000 001b 001f 007f 0080 009f 2028 2029 202a 202e 2066 2069 0008 000b 000d".split(" ");
const layout = ["0009", "000a"];
const invisible = ["061c", "200e", "200f", "feff"];
const harmless = "0020 007e 00a0 061b 061d 200d 2010 2027 202f 2065 206a fefe fffd".split(" ");

const textOf = (code: string) => `a${String.fromCharCode(Number.parseInt(code, 16))}b`;

test.each(unprintable)("U+%s is refused in a header, and replaced or escaped elsewhere", (code) => {
  const text = textOf(code);
  expect(header(text)).toBeUndefined();
  expect(nameOf(text)).toBe("a b");
  expect(safeText(text)).toBe(`a\\u${code}b`);
  expect(cleanText(text)).toBe(`a\\u${code}b`);
  expect(cleanLine(text, 10)).toBe(`a\\u${code}b`);
});

test.each(layout)("U+%s is kept only in the text of a log", (code) => {
  const text = textOf(code);
  expect(header(text)).toBeUndefined();
  expect(nameOf(text)).toBe("a b");
  expect(safeText(text)).toBe(`a\\u${code}b`);
  expect(cleanText(text)).toBe(text);
  expect(cleanLine(text, 10)).toBe(code === "0009" ? "a\\tb" : "a\\nb");
});

test.each(invisible)("U+%s is allowed in a name, and visible in logs and audit events", (code) => {
  const text = textOf(code);
  expect(header(text)).toBe(text);
  expect(nameOf(text)).toBe(text);
  expect(safeText(text)).toBe(`a\\u${code}b`);
  expect(cleanText(text)).toBe(`a\\u${code}b`);
});

test.each(["d800", "dbff", "dc00", "dfff"])("a lone surrogate, U+%s, is stored nowhere", (code) => {
  const text = textOf(code);
  expect(nameOf(text)).toBe("a b");
  expect(safeText(text)).toBe(`a\\u${code}b`);
  expect(JSON.stringify(cleanText(text))).toBe(`"a\\u${code}b"`);
});

test.each(harmless)("U+%s stays unchanged", (code) => {
  const text = textOf(code);
  expect([header(text), nameOf(text), safeText(text), cleanText(text)]).toEqual(
    Array(4).fill(text),
  );
});

test("surrogate pairs stay unchanged", () => {
  const text = "a💥b";
  expect([header(text), nameOf(text), safeText(text), cleanText(text)]).toEqual(
    Array(4).fill(text),
  );
});
