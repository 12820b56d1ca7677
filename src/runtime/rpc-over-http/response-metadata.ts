import { FRAMING_HEADERS } from "../call/framing-headers.ts";
import { REQUEST_ID_HEADER } from "../call/request-id.ts";
import type { ResponseMetadata } from "../call/response-fields.ts";
import { binaryValue } from "../grpc/response-headers.ts";

/** What protocols on HTTP say in headers themselves: no handler sets those. */
const RESERVED = new RegExp(
  `^(:|grpc-|connect-|trailer-|access-control-|content-|(${[
    ...FRAMING_HEADERS,
    "accept-encoding",
    "cache-control",
    "vary",
    "x-content-type-options",
  ].join("|")})$)`,
);
const BINARY_SUFFIX = "-bin";

/** What a handler set, as it is sent: binary values in base64 without padding. */
export function sentMetadata(
  own: ResponseMetadata | undefined,
): readonly (readonly [name: string, values: readonly string[]])[] {
  if (own === undefined) return [];
  const sent: [string, readonly string[]][] = [];
  for (const [name, value] of own) {
    if (RESERVED.test(name) || name === REQUEST_ID_HEADER) continue;
    const values = typeof value === "string" ? [value] : value;
    sent.push([name, name.endsWith(BINARY_SUFFIX) ? values.map(binary) : values]);
  }
  return sent;
}

/** Clients fail at a binary value that is no base64. */
function binary(value: string): string {
  return binaryValue(Buffer.from(value, "base64"));
}
