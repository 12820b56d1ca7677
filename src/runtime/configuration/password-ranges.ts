import type { TextRange } from "./secret-values.ts";

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
 * Finds what of a URL of PostgreSQL is secret: the password before the host, and the values of
 * parameters, but for those that are known to be harmless.
 */
export function passwordRanges(url: string): readonly TextRange[] {
  const query = /[?#]/.exec(url)?.index ?? url.length;
  return [...userInfo(url.slice(0, query)), ...parameters(url, query)];
}

/** To the last `@`, as a password that was not escaped may hold one, and a `/`, too. */
function* userInfo(address: string): Iterable<TextRange> {
  const end = address.lastIndexOf("@");
  const colon = address.indexOf(":", address.indexOf("://") + 3);
  if (colon >= 0 && colon + 1 < end) yield [colon + 1, end];
}

function* parameters(url: string, query: number): Iterable<TextRange> {
  for (const { 0: parameter, index } of url.slice(query).matchAll(/[^?&#]+/g)) {
    const equals = parameter.indexOf("=");
    // A name that has escapes is none of these, whatever it means.
    if (HARMLESS.has(parameter.slice(0, Math.max(0, equals)).toLowerCase())) continue;
    const start = query + index;
    yield [start + equals + 1, start + parameter.length];
  }
}
