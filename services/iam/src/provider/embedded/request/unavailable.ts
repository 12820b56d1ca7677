import { ServiceError } from "svc-access/runtime";
import { MissingKeyError } from "../../../secrets/secret-box.ts";
import { DatabaseUnavailable } from "../../../store/provider-database.ts";

/** The error by which a request fails: UNAVAILABLE while the database does, or a key is missing here. */
export function requestError(error: unknown): unknown {
  const isDown =
    error instanceof DatabaseUnavailable ||
    error instanceof MissingKeyError ||
    codeOf(error) === "UNAVAILABLE";
  if (!isDown || error instanceof ServiceError) return error;
  return new ServiceError("UNAVAILABLE", undefined, { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
