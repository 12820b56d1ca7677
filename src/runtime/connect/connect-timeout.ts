import { ServiceError } from "../error/service-error.ts";

/** The header in which a client says how long it waits, in milliseconds. */
export const TIMEOUT_HEADER = "connect-timeout-ms";

const SYNTAX = /^[0-9]{1,10}$/;

/**
 * How long the client waits, in milliseconds; undefined where it does not say.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function connectTimeoutOf(values: readonly string[]): number | undefined {
  if (values.length === 0) return undefined;
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${TIMEOUT_HEADER} occurs more than once`);
  }
  const text = values[0] as string;
  if (!SYNTAX.test(text)) {
    throw new ServiceError("INVALID_ARGUMENT", `${TIMEOUT_HEADER} must be 1 to 10 digits`);
  }
  return Number(text);
}
