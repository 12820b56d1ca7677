import { type CallHeaders, single } from "./call-headers.ts";
import { drawRandom, randomPool } from "./random-pool.ts";

/** The header of the id that logs, errors and audit events of a call share. */
export const REQUEST_ID_HEADER = "x-request-id";

/** What is safe in a log line and a header, and no longer than an id is. */
const ACCEPTED = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The caller's request id where it is a harmless one, else a new one. */
export function requestIdOf(headers: CallHeaders): string {
  const sent = single(headers, REQUEST_ID_HEADER);
  return sent !== undefined && ACCEPTED.test(sent) ? sent : newRequestId();
}

const ID_BYTES = 16;
/** The text of an id: a UUID of version 4 (RFC 9562), written in place, as joining its parts costs more. */
const text = Buffer.alloc(36, "-");
const DIGITS = Buffer.from("0123456789abcdef");
/** Where the two digits of each byte stand. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** A new request id. */
export function newRequestId(): string {
  let next = drawRandom(ID_BYTES);
  randomPool[next + 6] = ((randomPool[next + 6] as number) & 0x0f) | 0x40;
  randomPool[next + 8] = ((randomPool[next + 8] as number) & 0x3f) | 0x80;
  for (const place of PLACES) {
    const byte = randomPool[next++] as number;
    text[place] = DIGITS[byte >> 4] as number;
    text[place + 1] = DIGITS[byte & 15] as number;
  }
  return text.toString("latin1");
}
