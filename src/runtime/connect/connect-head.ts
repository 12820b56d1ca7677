import type { CallHeaders } from "../call/call-headers.ts";
import { ServiceError } from "../error/service-error.ts";

/** The header in which a client says which version of the protocol it speaks. */
export const VERSION_HEADER = "connect-protocol-version";
/** The header in which it says how long it waits, in milliseconds. */
const TIMEOUT_HEADER = "connect-timeout-ms";

const TIMEOUT = /^[0-9]{1,10}$/;

/**
 * How long the client of a version that we speak waits, in milliseconds; undefined where it does not
 * say.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function connectTimeoutOf(headers: CallHeaders): number | undefined {
  const versions = headers.all(VERSION_HEADER);
  if (versions.length > 1 || (versions.length === 1 && versions[0] !== "1")) {
    throw invalid(`${VERSION_HEADER} must be "1"`);
  }
  const timeouts = headers.all(TIMEOUT_HEADER);
  const [timeout] = timeouts;
  if (timeout === undefined) return undefined;
  if (timeouts.length > 1) throw invalid(`${TIMEOUT_HEADER} occurs more than once`);
  if (!TIMEOUT.test(timeout)) throw invalid(`${TIMEOUT_HEADER} must be 1 to 10 digits`);
  return Number(timeout);
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
