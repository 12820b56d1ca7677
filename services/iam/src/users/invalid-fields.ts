import { ServiceError } from "svc-access/runtime";

/**
 * Refuses a request with all that is wrong with its fields.
 *
 * @param problems by the names of the fields; undefined for those that are valid
 * @throws ServiceError INVALID_ARGUMENT
 */
export function refuseInvalidFields(problems: Readonly<Record<string, string | undefined>>): void {
  const found = Object.entries(problems).filter((entry) => entry[1] !== undefined);
  if (found.length === 0) return;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    found.map(([field, problem]) => `${field} ${problem}`).join("; "),
    { details: { fields: Object.fromEntries(found) } },
  );
}
