import type { DatabaseError } from "../../database/database-error.ts";
import { AuthzError } from "../engine/authz-error.ts";

/** Converts an error of the database to an `AuthzError`, the only error class of an engine. */
export function storeError(error: DatabaseError): AuthzError {
  const { code, message, cause = error } = error;
  return new AuthzError(code, message, { cause });
}
