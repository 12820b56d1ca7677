import { HALVES, UNPRINTABLE } from "../../common/unsafe-characters.ts";
import type { Principal } from "../principal.ts";
import { invalidToken } from "./invalid-token.ts";
import type { JsonObject } from "./jwt-parts.ts";

const MAX_ITEMS = 1000;
const MAX_LENGTH = 256;
const MAX_DISPLAY_LENGTH = 1024;
const NONE: readonly string[] = Object.freeze([]);

/**
 * The principal that the claims of a verified token name (spec 2.1 and 5.3). It is
 * kept and given to many calls, so nobody may change it.
 *
 * @param subjectId the claim `sub`, checked
 * @throws ServiceError UNAUTHORIZED where a claim is not what it must be
 */
export function principalOfClaims(claims: JsonObject, subjectId: string): Principal {
  const name = displayText(claims["name"]);
  const { scope, groups, roles, owner } = claims as Record<string, unknown>;
  return Object.freeze({
    subjectId,
    subjectType: "user",
    username: displayText(claims["preferred_username"]) || name,
    name: displayText(claims["displayName"]) || name,
    email: displayText(claims["email"]),
    organizationId: owner === undefined ? "" : identifier(owner),
    groups: identifiers(groups),
    roles: identifiers(roles),
    scopes: identifiers(typeof scope === "string" ? scope.split(" ") : scope),
    source: "jwt",
  });
}

/** What stands in no header either; JSON can write halves of surrogate pairs. */
const HARMFUL = new RegExp(`[${UNPRINTABLE}${HALVES}]`, "gu");

/**
 * Text that is only shown; people choose it themselves, so it is made harmless and not refused.
 * By spaces, which no object id has: left out, "al\0ice" would be the `{principal.username}` of alice.
 */
function displayText(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.slice(0, MAX_DISPLAY_LENGTH).replace(HARMFUL, " ");
}

function identifiers(value: unknown): readonly string[] {
  if (value === undefined || value === null) return NONE;
  if (!Array.isArray(value) || value.length > MAX_ITEMS) throw invalidClaims();
  return Object.freeze(value.map(itemOf).filter((item) => item !== ""));
}

/** Casdoor's roles are objects with a name. */
function itemOf(item: unknown): string {
  if (typeof item !== "object" || item === null) return identifier(item);
  return identifier((item as { name?: unknown }).name);
}

function identifier(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_LENGTH || /[\p{Cc}\p{Cs}]/u.test(value)) {
    throw invalidClaims();
  }
  return value;
}

function invalidClaims() {
  return invalidToken("its claims are not valid");
}
