import type { ServiceError } from "../error/service-error.ts";
import { toldError } from "../error/told-error.ts";

/** An error as callers get it (design.md, "Errors"). */
export interface ErrorBody {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What a caller is told of an error. */
export function errorBody(error: ServiceError, requestId: string): ErrorBody {
  const { status } = error;
  const { code, message, details } = toldError(error);
  const body = { status, code, message, request_id: requestId };
  return details === undefined || !isJson(details) ? body : { ...body, details };
}

/** Details that no JSON can hold are left out, rather than that the error is not told. */
function isJson(details: object): boolean {
  try {
    return JSON.stringify(details) !== undefined;
  } catch {
    return false;
  }
}
