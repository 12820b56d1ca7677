import { ServiceError } from "../error/service-error.ts";

/** The header in which a client says how long it waits. */
export const TIMEOUT_HEADER = "grpc-timeout";

const SYNTAX = /^([0-9]{1,8})([HMSmun])$/;

const MILLISECONDS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/**
 * How long the client waits, in milliseconds; undefined where it does not say. One
 * that is malformed is refused: taken for no deadline, it would free the client of its own.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function clientTimeoutOf(values: readonly string[]): number | undefined {
  if (values.length === 0) return undefined;
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${TIMEOUT_HEADER} occurs more than once`);
  }
  const match = SYNTAX.exec(values[0] as string);
  if (match === null) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `${TIMEOUT_HEADER} must be 1 to 8 digits and one of H, M, S, m, u, n`,
    );
  }
  return Math.ceil(Number(match[1]) * (MILLISECONDS[match[2] as string] as number));
}
