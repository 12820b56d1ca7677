import { reportedError, type ServiceError } from "../../error/service-error.ts";

/** An error as callers get it (docs/requirements.md, ERR-2). */
export interface ErrorBody {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The part of an error that is sent to a caller. */
export function errorBody(error: ServiceError, requestId: string): ErrorBody {
  const { status } = error;
  const { code, message, details } = reportedError(error);
  const body = { status, code, message, request_id: requestId };
  return details === undefined || !isJson(details) ? body : { ...body, details };
}

/** Details that JSON cannot represent are omitted, so that the error can be sent. */
function isJson(details: object): boolean {
  try {
    return JSON.stringify(details) !== undefined;
  } catch {
    return false;
  }
}
