import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";

/** Longer than any code, token or state of a provider that works behind a gateway. */
const LONGEST = 16 * 1024;

/**
 * The fields that an update changes: those of its mask, or where it has none, those that it fills.
 *
 * @param fields all that can be changed, with whether the update fills them
 * @throws ServiceError INVALID_ARGUMENT for a path that is not one of them
 */
export function changedFields<Field extends string>(
  mask: FieldMask | undefined,
  fields: Readonly<Record<Field, boolean>>,
): ReadonlySet<Field> {
  const known = Object.keys(fields) as Field[];
  if (mask === undefined) return new Set(known.filter((field) => fields[field]));
  for (const path of mask.paths) {
    if (known.includes(path as Field)) continue;
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `update_mask has ${JSON.stringify(path.slice(0, 64))}; only ${known.join(", ")} can be changed`,
    );
  }
  return new Set(mask.paths as Field[]);
}

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

/**
 * A field that may not be empty.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is, or is too long
 */
export function required(field: string, value: string): string {
  const problem = value === "" ? "is required" : value.length > LONGEST ? "is too long" : undefined;
  if (problem === undefined) return value;
  throw new ServiceError("INVALID_ARGUMENT", `${field} ${problem}`);
}
