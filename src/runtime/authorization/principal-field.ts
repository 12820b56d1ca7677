import type { Principal } from "../principal.ts";

/** Reads a field of the caller; empty where the caller has none. */
export type PrincipalReader = (principal: Principal) => string;

/** The fields that `{principal.…}` may name: those of spec 2.1 that are no lists. */
const READERS: ReadonlyMap<string, PrincipalReader> = new Map([
  ["subject_id", ({ subjectId }: Principal) => subjectId],
  ["username", ({ username }: Principal) => username],
  ["name", ({ name }: Principal) => name],
  ["email", ({ email }: Principal) => email],
  ["organization_id", ({ organizationId }: Principal) => organizationId],
  ["source", ({ source }: Principal) => source],
]);

/** Makes the reader of a field. @throws Error that says why it can never be read */
export function principalField(name: string): PrincipalReader {
  const reader = READERS.get(name);
  if (reader !== undefined) return reader;
  throw new Error(
    `{principal.${name}} is no field of the principal that a placeholder can name; known are ${[...READERS.keys()].join(", ")}`,
  );
}
