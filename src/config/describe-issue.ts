import type * as z from "zod/mini";
import { didYouMean } from "../diagnostics/nearest.ts";
import { configSchema } from "./config.ts";
import type { ConfigPath } from "./config-document.ts";
import { describeValue } from "./describe-value.ts";

/** A violation of the schema. */
export interface SchemaProblem {
  readonly rule: "CONFIG_KEY" | "CONFIG_VALUE";
  readonly message: string;
  readonly path: ConfigPath;
}

/** Describes a schema issue for a user. */
export function describeIssue(issue: z.core.$ZodIssue): SchemaProblem[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? step.toString() : step));
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(path);
    return issue.keys.map((key) => unknownKey([...path, key], key, known));
  }
  if (issue.code === "invalid_key") {
    const why = issue.issues[0]?.message ?? issue.message;
    return [{ rule: "CONFIG_KEY", message: `${formatPath(path)} ${why}`, path }];
  }
  const isMissing = issue.input === undefined && path.length > 0;
  const why = isMissing ? "is missing" : describe(issue, path);
  return [{ rule: "CONFIG_VALUE", message: `${formatPath(path)} ${why}`.trimStart(), path }];
}

function describe(issue: z.core.$ZodIssue, path: ConfigPath): string {
  if (issue.code === "custom") return issue.message;
  const why = describeValue(issue);
  if (issue.code !== "invalid_type" || issue.expected !== "object") return why;
  return `${why}; its keys are ${knownKeys(path).join(", ")}`;
}

function unknownKey(path: ConfigPath, key: string, known: readonly string[]): SchemaProblem {
  const hint = /secret|password|token/i.test(key)
    ? "; keep secrets in the secret store, and name the Secret in client_secret"
    : didYouMean(key, known) || (known.length > 0 ? `; the keys are ${known.join(", ")}` : "");
  return { rule: "CONFIG_KEY", message: `${formatPath(path)} is not a key${hint}`, path };
}

/** The keys of the schema at a path. */
function knownKeys(path: ConfigPath): string[] {
  let parts = partsOf(configSchema);
  for (const step of path) {
    const schema = parts.shape?.[step] ?? parts.element ?? parts.valueType;
    if (schema === undefined) return [];
    parts = partsOf(schema);
  }
  return Object.keys(parts.shape ?? {});
}

/** The nested schemas of a schema. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  /** The inner schema of an optional schema, or of one with a default. */
  readonly innerType?: z.core.$ZodType;
}

function partsOf(schema: z.core.$ZodType): SchemaParts {
  const parts = schema._zod.def as SchemaParts;
  return parts.innerType === undefined ? parts : partsOf(parts.innerType);
}

/** A path as text: `services.hub.packages[0]`. */
export function formatPath(path: ConfigPath): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join("");
}
