import type { DatabaseError } from "../../database/database-error.ts";
import { AuthzError } from "../engine/authz-error.ts";

/** What an error of its database is to the user of a store: an `AuthzError`, as all that an engine throws. */
export function storeError(error: DatabaseError): AuthzError {
  const { code, message, cause = error } = error;
  return new AuthzError(code, message, { cause });
}
