import fc from "fast-check";

const LITERALS = ["a", "b"] as const;
const VERBS = ["x", "y"] as const;

interface Shape {
  readonly segments: readonly string[];
  /** Whether `**` follows. */
  readonly multi: boolean;
  readonly verb: string | undefined;
  /** Where a variable starts, and how many segments it spans. */
  readonly variables: readonly (readonly [start: number, length: number])[];
}

const shapes: fc.Arbitrary<Shape> = fc.record({
  segments: fc.array(fc.constantFrom("*", ...LITERALS), { maxLength: 3 }),
  multi: fc.boolean(),
  verb: fc.constantFrom(undefined, ...VERBS),
  variables: fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 3 })), { maxLength: 2 }),
});

/** Path templates as text, over so few literals and verbs that they often overlap. */
export const pathTemplates: fc.Arbitrary<string> = shapes.map(
  ({ segments, multi, verb, variables }) => {
    const words = multi ? [...segments, "**"] : [...segments];
    // A path without segments has no verb.
    if (words.length === 0) return "/";
    let free = 0;
    for (const [index, [start, length]] of variables.entries()) {
      const last = Math.min(start + length, words.length) - 1;
      if (start < free || last < start) continue;
      words[start] = `{f${index}=${words[start]}`;
      words[last] = `${words[last]}}`;
      free = last + 1;
    }
    return `/${words.join("/")}${verb === undefined ? "" : `:${verb}`}`;
  },
);
