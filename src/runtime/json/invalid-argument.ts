import { ServiceError } from "../error/service-error.ts";
import { cleanText } from "../operation/redaction/clean-text.ts";

const MAX_SHOWN = 64;

/** The error of a request that cannot be understood; the message says which part of it. */
export function invalidArgument(message: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message, cause === undefined ? {} : { cause });
}

/** Text of a caller as messages may show it: quoted, on one line, not too long. */
export function shown(text: string): string {
  const short = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return cleanText(JSON.stringify(short));
}
