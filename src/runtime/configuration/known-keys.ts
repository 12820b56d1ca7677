import type { ConfigPath } from "../../config/config-document.ts";

/**
 * The keys that a schema of zod has at a place. Of schemas of other libraries, which do not say that,
 * there are none.
 */
export function knownKeys(schema: unknown, path: ConfigPath): string[] {
  const def = (schema as Partial<ZodSchema> | undefined)?._zod?.def;
  if (def === undefined) return [];
  if (def.innerType !== undefined) return knownKeys(def.innerType, path);
  if (def.options !== undefined) return def.options.flatMap((option) => knownKeys(option, path));
  const [step, ...rest] = path;
  if (step === undefined) return Object.keys(def.shape ?? {});
  return knownKeys(def.element ?? def.shape?.[step], rest);
}

/** The keys that a schema does not know, which zod names beside the path of their object. */
export function unknownKeys(issue: object, parent: unknown): string[] {
  const { code, keys } = issue as { readonly code?: unknown; readonly keys?: unknown };
  const isNamed = code === "unrecognized_keys" && Array.isArray(keys);
  if (!isNamed || typeof parent !== "object" || parent === null) return [];
  return keys.filter((key): key is string => typeof key === "string" && Object.hasOwn(parent, key));
}

interface ZodSchema {
  readonly _zod: { readonly def: SchemaParts };
}

/** The parts of a schema that lead further down. */
interface SchemaParts {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  readonly options?: readonly unknown[];
  /** What an optional schema, or one with a default, holds. */
  readonly innerType?: unknown;
}
