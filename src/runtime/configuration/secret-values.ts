import type * as z from "zod/mini";
import type { ConfigPath } from "../../config/config-document.ts";

const SECRETS = new WeakSet<z.core.$ZodType>();

/** Marks the schema of a value that is a secret, or holds one. */
export function secretValue<Schema extends z.core.$ZodType>(schema: Schema): Schema {
  SECRETS.add(schema);
  return schema;
}

/** The places of a configuration where there are secrets, whichever keys they have. */
export function* secretsIn(
  schema: z.core.$ZodType,
  value: unknown,
  path: ConfigPath = [],
): Iterable<ConfigPath> {
  if (value === undefined) return;
  if (SECRETS.has(schema)) {
    if (typeof value === "string") yield path;
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
