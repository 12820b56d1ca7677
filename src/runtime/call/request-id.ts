import { randomUUID } from "node:crypto";
import { type CallHeaders, single } from "./call-headers.ts";

/** The header of the id that logs, errors and audit events of a call share. */
export const REQUEST_ID_HEADER = "x-request-id";

/** What is safe in a log line and a header, and no longer than an id is. */
const ACCEPTED = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The caller's request id where it is a harmless one, else a new one. */
export function requestIdOf(headers: CallHeaders): string {
  const sent = single(headers, REQUEST_ID_HEADER);
  return sent !== undefined && ACCEPTED.test(sent) ? sent : randomUUID();
}
