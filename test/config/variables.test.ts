import fc from "fast-check";
import { expect, test } from "vitest";
import { substituteVariables } from "../../src/config/variables.ts";

const VARIABLES = { A: "alpha", B_2: "beta", EMPTY: "", DOLLAR: "$A ${A} $$", UNSET: undefined };

test.each([
  ["", ""],
  ["plain", "plain"],
  ["${A}", "alpha"],
  ["x${A}y${B_2}z", "xalphaybetaz"],
  ["${A}${A}", "alphaalpha"],
  ["${EMPTY}", ""],
  ["${A:-other}", "alpha"],
  ["${UNSET:-other}", "other"],
  ["${NOBODY:-other}", "other"],
  ["${EMPTY:-other}", "other"],
  ["${UNSET:-}", ""],
  ["${UNSET:-a:-b}", "a:-b"],
  ["${UNSET:- with space }", " with space "],
  ["${UNSET:-two\nlines}", "two\nlines"],
  ["${UNSET:-$A}", "$A"],
  ["$$", "$"],
  ["$$$$", "$$"],
  ["$${A}", "${A}"],
  ["$$${A}", "$alpha"],
  ["$A", "$A"],
  ["$", "$"],
  ["a$", "a$"],
  ["}{", "}{"],
  ["${A}}", "alpha}"],
  ["${DOLLAR}", "$A ${A} $$"],
])("%j reads %j", (text, expected) => {
  expect(substituteVariables(text, VARIABLES).text).toBe(expected);
});

test.each([
  ["plain", undefined],
  ["${A}", undefined],
  ["${A:-other}", undefined],
  ["${UNSET:-}", undefined],
  ["${EMPTY:-}", undefined],
  ["$${UNSET:-other}", undefined],
  ["${UNSET:-other}", "UNSET"],
  ["${EMPTY:-other}", "EMPTY"],
  ["${A}-${EMPTY:-}-${UNSET:- }-${NOBODY:-x}", "UNSET"],
])("%j has the default of %s", (text, variable) => {
  const found = substituteVariables(text, VARIABLES);
  expect(found.error).toBeUndefined();
  expect("defaulted" in found ? found.defaulted[0]?.variable : null).toBe(variable);
});

test.each([
  ["${UNSET:-other}", ["other"]],
  ["a${A}b${UNSET:-one}c$$d${B_2}${EMPTY:-two}e${A:-no}", ["one", "two"]],
  ["$$${UNSET:-$}${EMPTY:-}${NOBODY:-x}", ["$", "x"]],
])("the parts of %j that are defaults are found in what it reads", (text, parts) => {
  const found = substituteVariables(text, VARIABLES);
  if (found.error !== undefined) expect.unreachable();
  else expect(found.defaulted.map(({ start, end }) => found.text.slice(start, end))).toEqual(parts);
});

const malformed = (reference: string) =>
  `"${reference}" is not a reference; write \${NAME} or \${NAME:-default}, and $$ for a dollar sign`;
const unset = (name: string) =>
  `the variable ${name} is not set; set it, or write \${${name}:-default}`;

test.each([
  ["${NOBODY}", unset("NOBODY")],
  ["${UNSET}", unset("UNSET")],
  ["${a}", unset("a")],
  ["${toString}", unset("toString")],
  ["${__proto__}", unset("__proto__")],
  ["${A}${NOBODY}${OTHER}", unset("NOBODY")],
  ["${}", malformed("${}")],
  ["${ A }", malformed("${ A }")],
  ["${1A}", malformed("${1A}")],
  ["${A-B}", malformed("${A-B}")],
  ["${A:default}", malformed("${A:default}")],
  ["${:-default}", malformed("${:-default}")],
  ["${A", malformed("${")],
  ["a${", malformed("${")],
])("%j is refused", (text, error) => {
  expect(substituteVariables(text, VARIABLES)).toEqual({ error });
});

test.each(["${UNSET:-${B_2}}", "${A:-${B_2}}", "${A:-${B_2}"])(
  "%j is refused, since references do not nest",
  (text) => {
    expect(substituteVariables(text, VARIABLES).error).toContain("is not a reference");
  },
);

test("doubled dollar signs are read as single ones", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(substituteVariables(text.replaceAll("$", "$$$$"), {})).toEqual({
        text,
        defaulted: [],
      });
    }),
  );
});
