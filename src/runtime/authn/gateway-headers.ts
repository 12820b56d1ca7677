import { type CallHeaders, single } from "../call/call-headers.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Principal } from "../principal.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "./authenticator.ts";
import { parseHeaderList } from "./header-list.ts";
import { decodeHeaderText } from "./header-text.ts";
import { isSubjectId } from "./subject-id.ts";

/** The headers of spec 5.4 that may hold the subject id; the first that is not empty does. */
const VERIFIED_SUBJECTS = [
  "x-svc-principal",
  "x-svc-user-id",
  "x-svc-external-id",
  "x-svc-external-sub",
] as const;
/** Those among them that are claim headers (spec 5.3). */
const CLAIM_SUBJECTS = ["x-svc-external-id", "x-svc-external-sub"] as const;

/** Recovers the principal from the headers that the edge gateway sets (spec 5.4). */
export class GatewayHeadersAuthenticator implements Authenticator {
  readonly name = "gateway";

  authenticate({ headers, peerIsTrusted }: AuthenticationRequest): Identity | undefined {
    if (!peerIsTrusted) return undefined;
    const principal = principalOf(headers);
    return principal === undefined ? undefined : { principal, credential: "gateway" };
  }
}

function principalOf(headers: CallHeaders): Principal | undefined {
  const verified = text(headers, "x-svc-auth-verified").toLowerCase() === "true";
  const subjectId = firstOf(headers, verified ? VERIFIED_SUBJECTS : CLAIM_SUBJECTS);
  if (subjectId === "") return undefined;
  // A comma is what joins a duplicate; who of the two it is, nobody can say.
  if (!isSubjectId(subjectId) || subjectId.includes(",")) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "the subject id in the identity headers is not valid",
    );
  }
  const name = display(headers, "x-svc-external-name");
  return {
    subjectId,
    subjectType: "user",
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

/** Shared by all calls, so nobody may add to it. */
const NONE: readonly string[] = Object.freeze([]);

/**
 * The explicit header is a list as others; that of the claim is as OAuth writes scopes, with
 * spaces, or a list, as a gateway writes a claim that is one (design.md, "Trust").
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
