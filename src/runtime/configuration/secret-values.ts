import type * as z from "zod/mini";
import type { ConfigPath } from "../../config/config-document.ts";

/** A part of a text, from its first character to before its last. */
export type TextRange = readonly [start: number, end: number];

/** Finds the parts of a value that are secret. */
export type SecretRanges = (value: string) => readonly TextRange[];

/** A text that is a secret, or holds one. */
export interface SecretText {
  readonly path: ConfigPath;
  readonly ranges: readonly TextRange[];
}

const SECRETS = new WeakMap<z.core.$ZodType, SecretRanges>();

const ALL: SecretRanges = ({ length }) => [[0, length]];

/**
 * Marks the schema of a value that is a secret, or holds one.
 *
 * @param ranges what of the value is secret; all of it where absent
 */
export function secretValue<Schema extends z.core.$ZodType>(
  schema: Schema,
  ranges: SecretRanges = ALL,
): Schema {
  SECRETS.set(schema, ranges);
  return schema;
}

/** The places of a configuration where there are secrets, whichever keys they have. */
export function* secretsIn(
  schema: z.core.$ZodType,
  value: unknown,
  path: ConfigPath = [],
): Iterable<SecretText> {
  if (value === undefined) return;
  const ranges = SECRETS.get(schema);
  if (ranges !== undefined) {
    if (typeof value === "string") yield { path, ranges: ranges(value) };
    return;
  }
  const { innerType, options = [], element, shape } = schema._zod.def as SchemaParts;
  if (innerType !== undefined) yield* secretsIn(innerType, value, path);
  for (const option of options) yield* secretsIn(option, value, path);
  if (Array.isArray(value)) {
    if (element === undefined) return;
    for (const [index, item] of value.entries()) yield* secretsIn(element, item, [...path, index]);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(shape ?? {})) {
      yield* secretsIn(part, (value as Record<string, unknown>)[key], [...path, key]);
    }
  }
}

/** The parts of a schema that lead further down. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
  readonly innerType?: z.core.$ZodType;
}
