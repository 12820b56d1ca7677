import { array, assert, constantFrom, property, string, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseModel } from "../../src/model/index.ts";
import { cpuMilliseconds } from "../support/cpu-time.ts";
import { runs } from "../support/effort.ts";

/** Each parse takes less than three seconds; quadratic time would be hours. */
const LIMIT_MILLISECONDS = 20_000;

function parseInTime(text: string) {
  let result = parseModel("", "model.zed");
  const cost = cpuMilliseconds(() => void (result = parseModel(text, "model.zed")));
  expect(cost).toBeLessThan(LIMIT_MILLISECONDS);
  for (const { line, column, message } of result.diagnostics) {
    expect(line).toBeGreaterThanOrEqual(1);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(message.length).toBeLessThan(10_000);
  }
  return result;
}

const rulesOf = (text: string) => [
  ...new Set(parseInTime(text).diagnostics.map(({ rule }) => rule)),
];

const inDoc = (expression: string) =>
  `definition doc {\n  relation viewer: doc\n  permission view = ${expression}\n}`;

describe("nesting", { timeout: 120_000 }, () => {
  test.each([
    ["open", "(".repeat(100_000)],
    ["open and closed", `${"(".repeat(100_000)}viewer${")".repeat(100_000)}`],
    ["exclusions in a chain", `viewer${" - viewer".repeat(100_000)}`],
  ])("of 100,000: %s", (_name, expression) => {
    expect(rulesOf(inDoc(expression))).toEqual(["MODEL_NESTING_DEPTH"]);
  });

  test("of the types of caveats", () => {
    expect(rulesOf(`caveat c(a ${"list<".repeat(100_000)}`)).toEqual(["MODEL_SYNTAX"]);
  });

  test.each(["+", "&"])("a flat chain of %s is not nested", (operator) => {
    expect(rulesOf(inDoc(`viewer${` ${operator} viewer`.repeat(100_000)}`))).toEqual([]);
  });
});

const size = runs(10_000_000);

describe(`${size / 1_000_000} MB`, { timeout: 120_000 }, () => {
  const fill = (part: string) => part.repeat(Math.ceil(size / part.length));

  test.each([
    ["of one word", fill("a")],
    ["of a name in a definition", `definition ${fill("a")} {}`],
    ["of symbols", fill("(){}->...#*")],
    ["of an open comment", `/*${fill(" *")}`],
    ["of comments", fill("/**/")],
    ["of quotes", fill("'\"")],
    ["of quotes in a caveat", `caveat c(a int) { ${fill("'\"")}`],
    ["of apostrophes in threes", fill("'''x'''\n")],
    ["of zero bytes", fill("\0")],
    ["of halves of surrogate pairs", fill("\uD800")],
    ["of line breaks", fill("\r\n\r")],
    ["of wrong statements", `definition doc {\n${fill("relation viewer user\n")}}`],
    ["of unknown names", `definition doc {\nrelation one: doc\n${fill("permission two = onw\n")}}`],
    ["of definitions of one name", fill("definition doc {}\n")],
  ])("%s", (_name, text) => {
    expect(parseInTime(text).diagnostics.length).toBeLessThanOrEqual(1_001);
  });

  test("of valid definitions", () => {
    const count = size / 100;
    const definitions = Array.from(
      { length: count },
      (_, index) =>
        `definition d${index}x {\n  relation parent: d${index ? index - 1 : 0}x\n  relation own: d${index}x\n  permission view = own + parent->view\n}\n`,
    );
    const { model, diagnostics } = parseInTime(definitions.join(""));
    expect(diagnostics).toEqual([]);
    expect(model.definitions.size).toBe(count);
  });
});

test("after 1,000 errors, one reports that there are more", () => {
  const text = `definition doc {\n${"relation viewer user\n".repeat(2_000)}}`;
  const { diagnostics } = parseModel(text, "model.zed");
  expect(diagnostics).toHaveLength(1_001);
  expect(diagnostics.at(-1)).toMatchObject({ rule: "MODEL_TOO_MANY_ERRORS", line: 1_002 });
});

const TOKENS = [
  ..."+-&|(){}<>[]:;#*/,.=!?%$'\"\n ",
  ...["->", "...", "//", "/*", "*/", "'''", "\r\n", "\t", "\uFEFF", ".any(", ".all("],
  ...["use", "definition", "caveat", "relation", "permission", "partial", "import"],
  ...["nil", "self", "with", "and", "expiration", "typechecking", "int", "list"],
  ...["user", "doc", "viewer", "view", "definition doc {\n", "relation viewer: doc\n"],
  ...["permission view = viewer + ", "caveat c(a int) {", "use expiration\n", "use partial\n"],
];

describe("nothing is thrown, and each position is in the text", () => {
  const check = (text: string) => {
    const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
    for (const { line = 0, column = 0 } of parseInTime(text).diagnostics) {
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
    }
  };

  test("on random text", () => {
    assert(property(string({ unit: "binary", maxLength: 500 }), check));
  });
  test("on random bytes", () => {
    const latin = new TextDecoder("latin1");
    assert(property(uint8Array({ maxLength: 500 }), (bytes) => check(latin.decode(bytes))));
  });
  test("on random tokens", () => {
    const tokens = array(constantFrom(...TOKENS), { maxLength: 80 });
    assert(
      property(tokens, (parts) => check(parts.join(" "))),
      { numRuns: runs(1_000) },
    );
    assert(
      property(tokens, (parts) => check(parts.join(""))),
      { numRuns: runs(1_000) },
    );
  });
});
