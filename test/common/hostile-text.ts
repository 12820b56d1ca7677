import fc from "fast-check";
import { expect } from "vitest";

/** Text with control sequences for terminals, or commands for CI systems. */
export const hostileText = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          ..."\n|\r|\r\n|\u001b[2J|\u001b]0;x\u0007|\u0085|\u009b31m|\u2028|\u2029|\u202e|\u2066".split(
            "|",
          ),
          ..."::stop-commands::x|::add-mask::x|\n::error::x|##[add-mask]x|##vso[task.setvariable]x|%0A|:|#|##".split(
            "|",
          ),
          ..."\u200b|\ufeff|\u0000|\u007f|\t|  |\ud800|\u{e0041}|a".split("|"),
        ),
      },
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

/** Expects that no line of an output has control characters, or begins a command of a CI system. */
export function expectHarmless(output: string): void {
  expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
  expect(output).not.toMatch(/[\u200b\u200e\u200f\ufeff]|[\u{e0000}-\u{e007f}]|\p{Cs}/u);
  expect(output).not.toMatch(/##(?:\[|vso\[)/);
  for (const line of output.split("\n")) expect(line).not.toMatch(/^\s*::/);
}
