import * as z from "zod/mini";

const MAX_NS = Number.MAX_SAFE_INTEGER;
const GIB = 1024 ** 3;

/** `host:port`; an IPv6 host is in brackets. Port 0 is any free one. */
export const address = () =>
  z.string().check(
    z.regex(
      /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(0|[1-9][0-9]{0,4})$/,
      "must be host:port, such as 0.0.0.0:18080",
    ),
    z.refine((text) => Number(text.slice(text.lastIndexOf(":") + 1)) <= 65_535, {
      error: "must have a port of at most 65535",
    }),
  );

/** A length of time in nanoseconds, from 1 ms on. */
export const duration = (otherwise: number) =>
  z._default(
    z
      .int()
      .check(
        z.minimum(1_000_000, "must be nanoseconds, at least 1000000 (a millisecond)"),
        z.maximum(MAX_NS),
      ),
    otherwise,
  );

/** A number of bytes. */
export const size = (otherwise: number) =>
  z._default(z.int().check(z.minimum(1), z.maximum(GIB)), otherwise);

/** The path of a file. */
export const file = () => z.string().check(z.minLength(1), z.maxLength(4096));

/** A URL of some schemes. */
export const url = (protocol: RegExp) =>
  z.pipe(
    z.string().check(z.maxLength(2048, "must have 2048 characters at most")),
    z.url({ protocol, error: "must be a URL of the right scheme" }),
  );

/** Nanoseconds as milliseconds, at least 1. */
export function milliseconds(nanoseconds: number): number {
  return Math.max(1, Math.round(nanoseconds / 1_000_000));
}
