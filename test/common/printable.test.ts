import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  printable,
  printableJson,
  printableJsonLine,
  printableLines,
} from "../../src/common/printable.ts";
import { expectHarmless, hostileText } from "./hostile-text.ts";

describe("printable", () => {
  test.each([
    ["plain text: with #one sign, a::b and c:", "plain text: with #one sign, a::b and c:"],
    ["über 人 😀 עברית", "über 人 😀 עברית"],
    ["a\nb", "a\\u000ab"],
    ["\u001b[31mred", "\\u001b[31mred"],
    ["a\r::x", "a\\u000d::x"],
    ["::stop-commands::x", "\\u003a:stop-commands::x"],
    ["  ::x", "  \\u003a:x"],
    ["\u202eevil", "\\u202eevil"],
    ["a\u2028b", "a\\u2028b"],
    ["a\u200bb", "a\\u200bb"],
    ["\ud800", "\\ud800"],
    ["\u{e0041}", "\\udb40\\udc41"],
    ["##[add-mask]x ###", "#\\u0023[add-mask]x #\\u0023#"],
  ])("%j is %j", (text, expected) => expect(printable(text)).toBe(expected));

  test("any text becomes one harmless line, and a second pass changes nothing", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const line = printable(text);
        expect(line).not.toContain("\n");
        expectHarmless(line);
        expect(printable(line)).toBe(line);
        expectHarmless(printableLines(text));
      }),
    );
  });

  test("JSON keeps its meaning", () => {
    fc.assert(
      fc.property(fc.dictionary(hostileText, hostileText), (value) => {
        const text = printableJson(value);
        expectHarmless(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        const line = printableJsonLine(value);
        expectHarmless(line);
        expect(line).not.toContain("\n");
        expect(JSON.parse(line)).toEqual(JSON.parse(text));
      }),
    );
  });
});
