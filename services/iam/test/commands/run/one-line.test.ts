import { expect, test } from "vitest";
import { oneLine } from "../../../src/commands/run/print.ts";

test.each([
  ["one\r\ntwo", "one two"],
  ["one\n\n  \u2028two", "one two"],
  ["\nsvc-iam: ok", " svc-iam: ok"],
  ["a\u001b[31m b", "a\\u001b[31m b"],
])("%j is a part of a line as %j [CMD-3]", (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test("a long text of a server takes as long as its length [CMD-3]", () => {
  // Where each blank was looked at once for each blank before it, a minute passed.
  const text = `x${" ".repeat(500_000)}x`;
  expect(oneLine(text)).toBe(text);
});
