import { type CallerType, callerType, SUBJECT_TYPE_HEADER } from "../../../api/identity-headers.ts";
import type { Principal } from "../../call/call-context.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "../identity/authenticator.ts";
import { decodeHeaderText, isSubjectId } from "../identity/identity-text.ts";

/** The headers that may contain the subject id; the first non-empty one is used. */
const VERIFIED_SUBJECTS = [
  "x-svc-principal",
  "x-svc-user-id",
  "x-svc-external-id",
  "x-svc-external-sub",
] as const;
/** Those that the gateway sets from claims. */
const CLAIM_SUBJECTS = ["x-svc-external-id", "x-svc-external-sub"] as const;

/** Recovers the principal from the headers that the edge gateway sets (docs/requirements.md, HDR-4 and HDR-5). */
export class GatewayHeadersAuthenticator implements Authenticator {
  readonly name = "gateway";

  authenticate({ headers, peerIsTrusted }: AuthenticationRequest): Identity | undefined {
    // A trusted peer also passes on calls without them, such as those with a token.
    if (!peerIsTrusted || !hasIdentityHeader(headers)) return undefined;
    const principal = principalOf(headers);
    return principal === undefined ? undefined : { principal, credential: "gateway" };
  }
}

const PREFIX = "x-svc-";

/** Whether there is any header that is read below: all their names begin alike. */
function hasIdentityHeader(headers: CallHeaders): boolean {
  for (const name of headers.names()) if (name.startsWith(PREFIX)) return true;
  return false;
}

function principalOf(headers: CallHeaders): Principal | undefined {
  const verified = text(headers, "x-svc-auth-verified").toLowerCase() === "true";
  const subjectType = subjectTypeOf(headers);
  const subjectId = firstOf(headers, verified ? VERIFIED_SUBJECTS : CLAIM_SUBJECTS);
  if (subjectId === "") return undefined;
  // Duplicates are joined with a comma, so it is unclear which of the two it is.
  if (!isSubjectId(subjectId) || subjectId.includes(",")) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "the subject id in the identity headers is not valid",
    );
  }
  const name = display(headers, "x-svc-external-name");
  return {
    subjectId,
    subjectType,
    username: display(headers, "x-svc-external-username") || name,
    name: display(headers, "x-svc-external-display-name") || name,
    email: display(headers, "x-svc-external-email"),
    organizationId:
      (verified && text(headers, "x-svc-org-id")) || text(headers, "x-svc-external-owner"),
    groups: verified ? list(headers, "x-svc-groups") : NONE,
    roles: verified ? list(headers, "x-svc-roles") : NONE,
    scopes: scopesOf(headers, verified),
    source: "gateway",
  };
}

/** Refused even if nobody is identified: what set the header does not do what it should. */
function subjectTypeOf(headers: CallHeaders): CallerType {
  const value = single(headers, SUBJECT_TYPE_HEADER);
  if (value === undefined) return "user";
  const type = callerType(value);
  if (type !== undefined) return type;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    `the header ${SUBJECT_TYPE_HEADER} must be user or service_account`,
  );
}

/** Shared by all calls, so it must not be changed. */
const NONE: readonly string[] = Object.freeze([]);

/**
 * The explicit header is a list like the others; the header of the claim has OAuth's form,
 * separated by spaces, or is a list if the claim is one.
 */
function scopesOf(headers: CallHeaders, verified: boolean): readonly string[] {
  const explicit = verified ? list(headers, "x-svc-scopes") : NONE;
  if (explicit.length > 0) return explicit;
  const name = "x-svc-external-scope";
  const claim = text(headers, name);
  return parseHeaderList(name, claim.startsWith("[") ? claim : claim.replaceAll(" ", ","));
}

function firstOf(headers: CallHeaders, names: readonly string[]): string {
  for (const name of names) {
    const value = text(headers, name);
    if (value !== "") return value;
  }
  return "";
}

function text(headers: CallHeaders, name: string): string {
  return single(headers, name) ?? "";
}

function display(headers: CallHeaders, name: string): string {
  const value = text(headers, name);
  return value === "" ? "" : (decodeHeaderText(value) ?? "");
}

function list(headers: CallHeaders, name: string): readonly string[] {
  return parseHeaderList(name, text(headers, name));
}

const MAX_ITEMS = 1000;
const MAX_ITEM_LENGTH = 256;

/**
 * The items of a list in a header: separated by commas, or a JSON array of strings.
 *
 * @throws ServiceError INVALID_ARGUMENT if it is neither, or too long
 */
function parseHeaderList(header: string, value: string): readonly string[] {
  if (value === "") return NONE;
  // Only the white space around commas is not part of an item: trimming " admin" would make it
  // "admin".
  return value.trimStart().startsWith("[")
    ? checkItems(header, parseArray(header, value))
    : checkItems(
        header,
        value.split(",").map((item) => item.trim()),
      );
}

function checkItems(header: string, items: readonly string[]): readonly string[] {
  if (items.length > MAX_ITEMS) throw invalidList(header, `has more than ${MAX_ITEMS} items`);
  if (items.some(({ length }) => length > MAX_ITEM_LENGTH)) {
    throw invalidList(header, "has an item that is too long");
  }
  return items.filter((item) => item !== "");
}

function parseArray(header: string, value: string): string[] {
  let array: unknown;
  try {
    array = JSON.parse(value);
  } catch {
    array = undefined;
  }
  if (!Array.isArray(array) || !array.every((item) => typeof item === "string" && isClean(item))) {
    throw invalidList(header, "must be a list with commas, or a JSON array of strings");
  }
  return array;
}

/** JSON escapes could contain characters that are not allowed in a header. */
function isClean(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

function invalidList(header: string, why: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `the header ${header} ${why}`);
}
