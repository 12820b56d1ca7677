import { RESERVED_OF_RAW } from "../../call/reserved-headers.ts";
import { checkFields } from "../../call/response-fields.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RawResponse } from "./raw-handler.ts";

/**
 * Adds the headers of a handler to those of a response; they replace those of the same name that the
 * handler, or the platform, set before.
 *
 * @throws Error if all headers together are too large
 */
export function replaceHeaders(
  exchange: Exchange,
  headers: string[],
  own: RawResponse["headers"] = {},
): void {
  for (const [name, value] of Object.entries(own)) {
    const lower = name.toLowerCase();
    if (RESERVED_OF_RAW.has(lower)) continue;
    exchange.hasHandlerHeaders = true;
    if (lower === "x-request-id") {
      exchange.shownRequestId = String(value);
      continue;
    }
    removeHeader(headers, lower);
    for (const one of typeof value === "string" ? [value] : value) headers.push(name, one);
  }
  const bytes = headers.reduce((sum, text) => sum + text.length, 0);
  checkFields("header", bytes, headers.length / 2);
}

/** Removes all values of a header, which is named in lower case. */
export function removeHeader(headers: string[], lower: string): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    if (headers[index]?.toLowerCase() === lower) headers.splice(index, 2);
  }
}
