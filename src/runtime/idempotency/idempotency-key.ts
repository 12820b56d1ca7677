import type { CallHeaders } from "../call/call-headers.ts";
import { ServiceError } from "../error/service-error.ts";

/** The header, or the metadata, that names an attempt of a caller. */
export const IDEMPOTENCY_KEY = "idempotency-key";

/** Visible characters of ASCII and the space, but not at the ends. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
/** A string of structured fields (RFC 9651), as the draft of the header has it. */
const QUOTED = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * The key of a call; undefined without one.
 *
 * @throws ServiceError INVALID_ARGUMENT for several, or one that is not valid
 */
export function idempotencyKeyOf(headers: CallHeaders): string | undefined {
  const [value, ...others] = headers.all(IDEMPOTENCY_KEY);
  if (value === undefined) return undefined;
  const key = QUOTED.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, "$1") ?? value;
  if (others.length === 0 && KEY.test(key)) return key;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    "Idempotency-Key must be sent once, with 1 to 255 visible ASCII characters, such as a UUID",
  );
}
