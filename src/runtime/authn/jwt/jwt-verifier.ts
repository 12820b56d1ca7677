import { compactVerify, errors } from "jose";
import { type CallerType, callerType } from "../../../api/identity-headers.ts";
import { HALVES, UNPRINTABLE } from "../../../common/printable.ts";
import type { Principal } from "../../call/call-context.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Identity } from "../identity/authenticator.ts";
import { invalidToken } from "./bearer-token.ts";
import { type ClaimRules, checkClaims, type TokenClaims } from "./jwt-claims.ts";
import {
  checkTokenHeader,
  type JsonObject,
  readJsonObject,
  readTokenHeader,
} from "./jwt-header.ts";
import type { KeySet } from "./key-set.ts";
import { rememberToken } from "./revocable-token.ts";
import type { VerificationKey } from "./verification-key.ts";

/** The options of token verification. */
export interface JwtRules extends ClaimRules {
  /** The claim that holds the subject type; absent, all callers are users. */
  readonly subjectTypeClaim?: string | undefined;
  readonly algorithms: ReadonlySet<string>;
}

/** A token that was verified. */
export interface VerifiedToken extends TokenClaims {
  readonly subjectType: CallerType;
  /** Shared by all calls with the token. */
  readonly identity: Identity;
  /** The key that it was verified with. */
  readonly key: VerificationKey;
}

/**
 * Verifies an access token: its form, its header, its signature, and only then what it claims.
 *
 * @throws ServiceError UNAUTHORIZED if it is not acceptable; UNAVAILABLE if the
 * provider's keys are not available
 */
export async function verifyJwt(
  token: string,
  keys: KeySet,
  rules: JwtRules,
  now: () => number,
): Promise<VerifiedToken> {
  const header = checkTokenHeader(readTokenHeader(token), rules.algorithms);
  const key = await keys.find(header.keyId, header.algorithm);
  if (key === undefined) throw invalidToken("its key is unknown");
  const payload = await verifySignature(token, key, header.algorithm);
  const claims = readJsonObject(payload);
  const checked = checkClaims(claims, header.isAccessToken, rules, now());
  const subjectType = subjectTypeOf(claims, rules.subjectTypeClaim);
  const principal = principalOfClaims(claims, checked.subject, subjectType);
  const identity: Identity = Object.freeze({ principal, credential: "jwt" });
  const verified = { ...checked, subjectType, identity, key };
  rememberToken(principal, verified);
  return verified;
}

async function verifySignature(
  token: string,
  { key }: VerificationKey,
  algorithm: string,
): Promise<Uint8Array> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalidToken("its signature is wrong", error);
    throw new ServiceError("INTERNAL", undefined, { cause: error });
  }
}

function subjectTypeOf(claims: JsonObject, name: string | undefined): CallerType {
  if (name === undefined || !Object.hasOwn(claims, name)) return "user";
  const type = callerType(claims[name]);
  if (type === undefined) throw invalidToken("its subject type is not valid");
  return type;
}

const MAX_ITEMS = 1000;
const MAX_LENGTH = 256;
const MAX_DISPLAY_LENGTH = 1024;
const NONE: readonly string[] = Object.freeze([]);

/**
 * The principal from the claims of a verified token. It is cached and shared by many calls, so it
 * must not be changed.
 *
 * @param subjectId the claim `sub`, checked
 * @param subjectType as checked, too
 * @throws ServiceError UNAUTHORIZED if a claim is not valid
 */
export function principalOfClaims(
  claims: JsonObject,
  subjectId: string,
  subjectType: CallerType,
): Principal {
  const name = displayText(claims["name"]);
  const { scope, groups, roles, owner, sid } = claims as Record<string, unknown>;
  return Object.freeze({
    subjectId,
    subjectType,
    username: displayText(claims["preferred_username"]) || name,
    name: displayText(claims["displayName"]) || name,
    email: displayText(claims["email"]),
    organizationId: owner === undefined ? "" : identifier(owner),
    groups: identifiers(groups),
    roles: identifiers(roles),
    scopes: identifiers(typeof scope === "string" ? scope.split(" ") : scope),
    source: "jwt",
    ...(typeof sid === "string" && sid !== "" ? { sessionId: sid } : {}),
  });
}

/** Characters that are not allowed in headers either; JSON can contain lone surrogates. */
const HARMFUL = new RegExp(`[${UNPRINTABLE}${HALVES}]`, "gu");

/**
 * Text that is only displayed; people choose it themselves, so it is sanitized and not refused.
 * Characters are replaced by spaces, which no object id has: if they were removed, "al\0ice" would
 * be the `{principal.username}` of alice.
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
