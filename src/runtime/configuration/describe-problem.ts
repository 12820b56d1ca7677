import type * as z from "zod/mini";
import type { ConfigPath } from "../../config/config-document.ts";
import { formatPath } from "../../config/describe-issue.ts";
import { didYouMean } from "../../diagnostics/nearest.ts";
import type { ServiceConfigProblem } from "./configuration-error.ts";
import { serviceConfigSchema } from "./service-config.ts";

const MERGED = ": YAML 1.2 has no merge keys; write the keys out";

/** Describes an issue of the schema for a user, without values, which may be secrets. */
export function describeProblem(issue: z.core.$ZodIssue): ServiceConfigProblem[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? step.toString() : step));
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(serviceConfigSchema, path);
    return issue.keys.map((key) => {
      const hint =
        key === "<<" ? MERGED : didYouMean(key, known) || `; known keys are ${known.join(", ")}`;
      return { path: [...path, key], message: `${formatPath([...path, key])} is not a key${hint}` };
    });
  }
  if (issue.code === "invalid_union") return describeUnion(issue, path);
  const isMissing = issue.input === undefined && path.length > 0;
  const why = isMissing ? "is missing" : describeValue(issue);
  return [{ path, message: `${formatPath(path)} ${why}` }];
}

/** The problem by the intended alternative: the one of the value's own type. */
function describeUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: ConfigPath,
): ServiceConfigProblem[] {
  const meant = issue.errors.find(
    (issues) => !issues.some(({ code, path: at }) => code === "invalid_type" && at.length === 0),
  );
  if (meant === undefined) {
    const quote = typeof issue.input === "number" ? '; write it in quotes, as in "${VAR}"' : "";
    return [{ path, message: `${formatPath(path)} must be text or a list${quote}` }];
  }
  return meant.flatMap((inner) => describeProblem({ ...inner, path: [...path, ...inner.path] }));
}

/** The keys that a schema has at a place. */
function knownKeys(schema: z.core.$ZodType, path: ConfigPath): string[] {
  const def = schema._zod.def as SchemaParts;
  if (def.innerType !== undefined) return knownKeys(def.innerType, path);
  if (def.options !== undefined) return def.options.flatMap((option) => knownKeys(option, path));
  const [step, ...rest] = path;
  if (step === undefined) return Object.keys(def.shape ?? {});
  const next = def.element ?? def.shape?.[step];
  return next === undefined ? [] : knownKeys(next, rest);
}

/** The parts of a schema that lead further down. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
  /** What an optional schema, or one with a default, holds. */
  readonly innerType?: z.core.$ZodType;
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys",
};

/**
 * What a value must be, in terms of YAML. It does not contain the value, which may be a secret, and
 * no colon precedes it, since the text after the colon of a secret's key is redacted.
 */
function describeValue(issue: z.core.$ZodIssue): string {
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
  if (origin === "string") return `have ${limit} ${count} characters`;
  if (origin === "array") return `have ${limit} ${count} ${count === 1 ? "item" : "items"}`;
  return `be ${limit} ${count}`;
}
