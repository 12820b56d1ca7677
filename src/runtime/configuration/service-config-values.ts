import * as z from "zod/mini";
import { httpUrl } from "../../config/config-values.ts";

/** A second in nanoseconds. */
export const SECOND_NS = 1_000_000_000;

/** Node's timers hold 24 days; a longer one would fire at once. */
const MAX_NS = 20 * 86_400 * SECOND_NS;
const GIB = 1024 ** 3;
const MAX_PORT = 65_535;

/** `host:port`; an IPv6 host is in brackets. Port 0 is any free one. */
export const address = () =>
  z.string().check(
    z.regex(
      /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(0|[1-9][0-9]{0,4})$/,
      "must be host:port, such as 0.0.0.0:18080",
    ),
    z.refine((text) => Number(text.slice(text.lastIndexOf(":") + 1)) <= MAX_PORT, {
      error: `must have a port of at most ${MAX_PORT}`,
    }),
  );

/** A length of time in nanoseconds, from 1 ms on. */
export const duration = (otherwise: number) =>
  z._default(
    z
      .int()
      .check(
        z.minimum(1_000_000, "must be nanoseconds, at least 1000000 (a millisecond)"),
        z.maximum(MAX_NS, `must be at most ${MAX_NS} nanoseconds (20 days)`),
      ),
    otherwise,
  );

/** A number of bytes. */
export const size = (otherwise: number) =>
  z._default(z.int().check(z.minimum(1), z.maximum(GIB)), otherwise);

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

/** A secret that a header or a credential carries. */
export const secret = (minLength = 1) =>
  z
    .string()
    .check(
      z.minLength(
        minLength,
        minLength === 1
          ? "must not be empty; give it as ${VAR}"
          : `must have ${minLength} characters at least; give it as \${VAR}`,
      ),
      z.maxLength(4096, "must have 4096 characters at most"),
    );

/** A secret that a header carries. */
export const headerSecret = (minLength: number) =>
  secret(minLength).check(z.regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces"));

/** An origin of CORS: scheme, host and port, nothing behind. */
export const origin = () =>
  z
    .string()
    .check(
      z.maxLength(253),
      z.regex(
        /^https?:\/\/([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/,
        "must be an origin, such as https://app.example.com",
      ),
    );

/** An http or https URL that holds no credentials: those have keys of their own. */
export const endpointUrl = () =>
  httpUrl().check(
    z.refine((value) => withoutCredentials(value), {
      error: "must not hold a user or a password",
    }),
  );

function withoutCredentials(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}

/** A URL of some schemes. */
export const url = (protocol: RegExp, schemes: string) =>
  z.pipe(
    z.string().check(z.maxLength(2048, "must have 2048 characters at most")),
    z.url({ protocol, error: `must be a URL that starts with ${schemes}` }),
  );

/** Nanoseconds as milliseconds, at least 1. */
export function milliseconds(nanoseconds: number): number {
  return Math.max(1, Math.round(nanoseconds / 1_000_000));
}
