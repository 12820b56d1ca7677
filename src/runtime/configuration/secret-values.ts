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
 * @param ranges the secret parts of the value; all of it if absent
 */
export function secretValue<Schema extends z.core.$ZodType>(
  schema: Schema,
  ranges: SecretRanges = ALL,
): Schema {
  SECRETS.set(schema, ranges);
  return schema;
}

/** The places of a configuration where there are secrets, regardless of their keys. */
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

/** The parameters of a URL of PostgreSQL that are known to hold no secret. */
const HARMLESS: ReadonlySet<string> = new Set([
  "application_name",
  "client_encoding",
  "connect_timeout",
  "database",
  "dbname",
  "encoding",
  "host",
  "port",
  "sslmode",
  "sslrootcert",
  "uselibpqcompat",
  "user",
]);

/**
 * Finds the secret parts of a PostgreSQL URL: the password before the host, and the values of
 * parameters, except those that are known to be harmless.
 */
export function passwordRanges(url: string): readonly TextRange[] {
  return rangesIn(url, (name) => !HARMLESS.has(name.toLowerCase()));
}

/**
 * Finds the secret parts of any URL: the password before the host, and the values of parameters
 * with a secret name. Text that is not a URL has none.
 */
export function secretUrlRanges(
  text: string,
  isSecret: (name: string) => boolean,
): readonly TextRange[] {
  return text.includes("://") ? rangesIn(text, (name) => name !== "" && isSecret(name)) : [];
}

function rangesIn(url: string, isSecret: (name: string) => boolean): readonly TextRange[] {
  const query = /[?#]/.exec(url)?.index ?? url.length;
  return [...userInfo(url.slice(0, query)), ...parameters(url, query, isSecret)];
}

/** To the last `@`, since an unescaped password may contain one, and a `/`, too. */
function* userInfo(address: string): Iterable<TextRange> {
  const end = address.lastIndexOf("@");
  const colon = address.indexOf(":", address.indexOf("://") + 3);
  if (colon >= 0 && colon + 1 < end) yield [colon + 1, end];
}

function* parameters(
  url: string,
  query: number,
  isSecret: (name: string) => boolean,
): Iterable<TextRange> {
  for (const { 0: parameter, index } of url.slice(query).matchAll(/[^?&#]+/g)) {
    const equals = parameter.indexOf("=");
    // A name with escapes is not one of these, regardless of its meaning.
    if (!isSecret(parameter.slice(0, Math.max(0, equals)))) continue;
    const start = query + index;
    yield [start + equals + 1, start + parameter.length];
  }
}
