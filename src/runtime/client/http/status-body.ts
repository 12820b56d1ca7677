import type { ErrorCode } from "../../error/error-codes.ts";
import { CODE_OF_STATUS } from "../code-of-status.ts";

/** What is read of a `google.rpc.Status`, which gateways of other makes answer errors with. */
export interface StatusBody {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The error that a `google.rpc.Status` in JSON tells; undefined where a body is none. */
export function statusBodyOf({ code, message }: Record<string, unknown>): StatusBody | undefined {
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const known = CODE_OF_STATUS[code];
  return known === undefined ? undefined : { code: known, message };
}
