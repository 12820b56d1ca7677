import type * as z from "zod/mini";
import { didYouMean } from "../diagnostics/nearest.ts";

const WHOLE = "a whole number";
const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys",
  record: "a section with keys",
};

/**
 * What a value must be, in terms of YAML. It does not contain the value, which may be a secret, and
 * no colon precedes it, since the text after the colon of a secret's key is redacted.
 *
 * @param number what a schema of numbers takes; those of this package take whole ones
 */
export function describeValue(issue: z.core.$ZodIssue, number = WHOLE): string {
  if (issue.message.startsWith("must ")) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue, number);
    case "invalid_value": {
      const values = issue.values.map(String);
      const hint = typeof issue.input === "string" ? didYouMean(issue.input, values) : "";
      return `must be one of ${values.join(", ")}${hint}`;
    }
    case "too_small": {
      const limit = issue.inclusive === false ? "more than" : "at least";
      return `must ${bound(issue.origin, limit, Number(issue.minimum))}`;
    }
    case "too_big": {
      const limit = issue.inclusive === false ? "less than" : "at most";
      return `must ${bound(issue.origin, limit, Number(issue.maximum))}`;
    }
    default:
      return "is not valid";
  }
}

/** The units of numbers, by the ends of their keys. */
const UNITS: Readonly<Record<string, string>> = {
  ns: " of nanoseconds, such as 5000000000 (5 seconds)",
  seconds: " of seconds",
  days: " of days",
  bytes: " of bytes",
};
/** Units that have no parts. */
const UNDIVIDED: ReadonlySet<string> = new Set(["ns", "bytes"]);

function describeType(
  { expected, input, path }: z.core.$ZodIssueInvalidType,
  number: string,
): string {
  const isNumber = expected === "number" || expected === "int";
  const kind = isNumber
    ? numberAt(path.at(-1), expected === "int" ? WHOLE : number)
    : (KINDS[expected] ?? expected);
  if (input === null) return `is empty; it must be ${kind}, or absent`;
  if (input === "") return `must be ${kind}, not empty text`;
  // Digits, and `true`, are not text unless they are quoted.
  const isPlain = typeof input === "number" || typeof input === "boolean";
  if (expected === "string" && isPlain) return 'must be text; write it in quotes, as in "${VAR}"';
  return typeof input === "string" ? `must be ${kind}, not text` : `must be ${kind}`;
}

/** A number with the unit of its key. */
function numberAt(key: PropertyKey | undefined, number: string): string {
  const unit = String(key).split("_").at(-1) ?? "";
  return `${UNDIVIDED.has(unit) ? WHOLE : number}${UNITS[unit] ?? ""}`;
}

function bound(origin: string, limit: string, count: number): string {
  const plural = count === 1 ? "" : "s";
  if (origin === "string") return `have ${limit} ${count} character${plural}`;
  if (origin === "array") return `have ${limit} ${count} item${plural}`;
  return `be ${limit} ${count}`;
}
