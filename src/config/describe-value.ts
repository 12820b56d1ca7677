import type * as z from "zod/mini";
import { didYouMean } from "../diagnostics/nearest.ts";

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys",
  record: "a section with keys",
};

/**
 * What a value must be, in terms of YAML. It does not contain the value, which may be a secret, and
 * no colon precedes it, since the text after the colon of a secret's key is redacted.
 */
export function describeValue(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith("must ")) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue);
    case "invalid_value": {
      const values = issue.values.map(String);
      const hint = typeof issue.input === "string" ? didYouMean(issue.input, values) : "";
      return `must be one of ${values.join(", ")}${hint}`;
    }
    case "too_small":
      return `must ${bound(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${bound(issue.origin, "at most", Number(issue.maximum))}`;
    default:
      return "is not valid";
  }
}

function describeType({ expected, input }: z.core.$ZodIssueInvalidType): string {
  const kind = KINDS[expected] ?? expected;
  if (input === null) return `is empty; it must be ${kind}, or absent`;
  if (input === "") return `must be ${kind}, not empty text`;
  // Digits, and `true`, are not text unless they are quoted.
  const isPlain = typeof input === "number" || typeof input === "boolean";
  if (expected === "string" && isPlain) return 'must be text; write it in quotes, as in "${VAR}"';
  return typeof input === "string" ? `must be ${kind}, not text` : `must be ${kind}`;
}

function bound(origin: string, limit: string, count: number): string {
  const plural = count === 1 ? "" : "s";
  if (origin === "string") return `have ${limit} ${count} character${plural}`;
  if (origin === "array") return `have ${limit} ${count} item${plural}`;
  return `be ${limit} ${count}`;
}
