import * as z from "zod/mini";
import { MAX_ORIGIN, ORIGIN, PORT } from "../../common/origin.ts";
import { URL_FORM } from "../../database/postgres/postgres-url.ts";
import { passwordRanges, secretValue } from "./secret-values.ts";

/** A second in nanoseconds. */
export const SECOND_NS = 1_000_000_000;

/** Node's timers hold 24 days; a longer one would fire at once. */
const MAX_NS = 20 * 86_400 * SECOND_NS;
const GIB = 1024 ** 3;

const ADDRESS = new RegExp(`^(?:\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+):(?:0|${PORT})$`);
const ENDPOINT = new RegExp(`^(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):${PORT}$`);

/** `host:port` to listen on; an IPv6 host is in brackets. Port 0 is any free one. */
export const address = () =>
  z
    .string()
    .check(
      z.regex(ADDRESS, "must be host:port, such as 0.0.0.0:18080, with a port of at most 65535"),
    );

/** `host:port` of another server. */
export const endpoint = (such: string) =>
  z
    .string()
    .check(
      z.maxLength(260),
      z.regex(ENDPOINT, `must be host:port, such as ${such}, with a port of at most 65535`),
    );

/** A length of time in nanoseconds, from 1 ms on. */
export const duration = (otherwise: number) => z._default(durationOf(), otherwise);

/** Likewise, without a default. */
export const durationOf = () =>
  z
    .int()
    .check(
      z.minimum(1_000_000, "must be nanoseconds, at least 1000000 (a millisecond)"),
      z.maximum(MAX_NS, `must be at most ${MAX_NS} nanoseconds (20 days)`),
    );

/** A number of bytes. */
export const size = (otherwise: number) => z._default(sizeOf(), otherwise);

/** Likewise, without a default. */
export const sizeOf = () => z.int().check(z.minimum(1), z.maximum(GIB));

/** The path of a file; relative to the configuration's. */
export const file = () =>
  z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(4096),
      z.regex(/^[^\u0000-\u001f\u007f]*$/, "must be a path without control characters"),
    );

/** A short text, such as a name or an id. */
export const text = () =>
  z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(256),
      z.regex(/^[^\u0000-\u001f\u007f]*$/, "must be text without control characters"),
    );

const secretText = (minLength: number) =>
  z
    .string()
    .check(
      z.minLength(
        minLength,
        minLength === 1
          ? "must not be empty; give it as ${VAR}"
          : `must have at least ${minLength} characters; give it as \${VAR}`,
      ),
      z.maxLength(4096, "must have at most 4096 characters"),
    );

/** A secret that a credential carries. */
export const secret = () => secretValue(secretText(1));

/** A secret that a header carries. */
export const headerSecret = (minLength: number) =>
  secretValue(
    secretText(minLength).check(
      z.regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces and line ends"),
    ),
  );

/** The same in a list, where an empty one means that there is none now. */
export const headerSecretOrEmpty = (minLength: number) =>
  z.union([headerSecret(minLength), z.literal("")]);

/** An origin of CORS. */
export const origin = () =>
  z
    .string()
    .check(
      z.maxLength(MAX_ORIGIN),
      z.regex(ORIGIN, "must be an origin, such as https://app.example.com"),
    );

/** Explains what is wrong with a text. */
type Explain = (issue: { readonly input?: unknown }) => string;

/** The text of a URL, as far as a pattern can check it; text that `URL` cannot parse is refused too. */
const urlText = (
  pattern: RegExp,
  error: string | Explain,
  ...checks: z.core.$ZodCheck<string>[]
) => {
  const text = z
    .string()
    .check(
      z.maxLength(2048, "must have at most 2048 characters"),
      z.regex(pattern, { error }),
      ...checks,
    );
  return z.pipe(text, z.url({ error }));
};

/** An http or https URL that holds no credentials: those have keys of their own. */
export const endpointUrl = () =>
  urlText(
    /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#\\][^\s\\]*$/,
    "must be an http or https URL, such as https://example.com",
    z.regex(/^([^/]*\/\/[^/?#@]*([/?#]|$)|[^@]*$)/, "must not contain a user or a password"),
  );

/** A URL of PostgreSQL; it may hold the password. */
export const postgresUrl = () =>
  secretValue(
    urlText(/^postgres(ql)?:\/\/\S*$/, ({ input }) =>
      /^postgres(ql)?:\/\//.test(String(input))
        ? `must be written as ${URL_FORM}`
        : "must be a URL that starts with postgres://",
    ),
    passwordRanges,
  );

/** Nanoseconds as milliseconds, at least 1. */
export function milliseconds(nanoseconds: number): number {
  return Math.max(1, Math.round(nanoseconds / 1_000_000));
}
