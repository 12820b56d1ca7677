import type { Call } from "../../call/call.ts";
import { challengesOf } from "../../call/credential-kinds.ts";
import { RESERVED_OF_HTTP } from "../../call/reserved-headers.ts";
import { retryAfter, type ServiceError } from "../../error/service-error.ts";

/** The headers of a call's response: those of the handler, and the mandatory ones. */
export function callHeaders(call: Call | undefined, contentType: string | undefined): string[] {
  const headers = contentType === undefined ? [] : ["Content-Type", contentType];
  if (call === undefined) return headers;
  let isCacheable = call.principal === undefined && call.method.policy.exposure === "PUBLIC";
  const set = call.beginResponse();
  if (set !== undefined) {
    for (const [name, value] of set) {
      if (name === "cache-control") isCacheable = true;
      if (!RESERVED_OF_HTTP.has(name)) pushHeader(headers, name, value);
    }
  }
  if (!isCacheable) headers.push("Cache-Control", "no-store");
  return headers;
}

/** The headers of an error. */
export function errorHeaders(
  error: ServiceError,
  call: Call | undefined,
  extra: readonly string[],
): string[] {
  const headers = ["Content-Type", "application/json", "Cache-Control", "no-store", ...extra];
  if (error.status === 401) headers.push("WWW-Authenticate", challengesOf(call));
  for (const [name, value] of call?.beginResponse() ?? []) {
    // A refused caller needs the limit most.
    if (name.startsWith("ratelimit-")) pushHeader(headers, name, value);
  }
  const seconds = retryAfter(error);
  if (seconds !== undefined) headers.push("Retry-After", seconds);
  return headers;
}

/** Each value as a header of its own. */
function pushHeader(headers: string[], name: string, value: string | readonly string[]): void {
  for (const each of typeof value === "string" ? [value] : value) headers.push(name, each);
}
