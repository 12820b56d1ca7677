/** The question before what cannot be undone, on a terminal. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { isConfirmed } from "../../src/commands/run/confirm.ts";

test.each([
  ["y\n", true],
  ["YES\r\n", true],
  [" yes \n", true],
  ["\n", false],
  ["n\n", false],
  ["yesterday\n", false],
  // The end of the input.
  ["", false],
])("the answer %j is %j [CMD-4]", async (answer, expected) => {
  const input = new PassThrough();
  const output = new PassThrough();
  let asked = "";
  output.on("data", (chunk: Buffer) => void (asked += chunk));
  const confirmed = isConfirmed("delete the group Testers (5f0c)?", input, output);
  input.end(answer);
  expect(await confirmed).toBe(expected);
  expect(asked).toContain(
    "svc-iam: delete the group Testers (5f0c)? This cannot be undone. [y/N] ",
  );
});
