import type { Principal } from "../runtime/call/call-context.ts";

/** A user, as the edge gateway would name them after the login. What is absent is empty in the principal. */
export interface TestUser {
  /** The subject id. */
  readonly user: string;
  /** `service_account` for one that the gateway names so; `user` if absent. */
  readonly subjectType?: "user" | "service_account";
  /** The name that they log in with; `name` if absent. */
  readonly username?: string;
  /** The display name. */
  readonly name?: string;
  /** The e-mail address. */
  readonly email?: string;
  /** The organization that they belong to. */
  readonly organizationId?: string;
  /** The groups of the principal; no check asks for them. */
  readonly groups?: readonly string[];
  /** The roles of the principal, likewise. */
  readonly roles?: readonly string[];
  /** The scopes of the principal, likewise. */
  readonly scopes?: readonly string[];
}

/** Another service, with its internal token. */
export interface TestService {
  /** The name of the service: the subject id of its principal. */
  readonly service: string;
}

/** Who calls: a user, a service, a holder of the system token, or nobody. */
export type TestCaller = TestUser | TestService | "system" | "nobody";

/** The principal that the runtime would make of a caller. */
export function principalOf(caller: TestUser | TestService): Principal {
  const isUser = "user" in caller;
  const of: Partial<TestUser> = isUser ? caller : { username: caller.service };
  return Object.freeze({
    subjectId: isUser ? caller.user : caller.service,
    subjectType: isUser ? (caller.subjectType ?? "user") : "service",
    username: of.username ?? of.name ?? "",
    name: of.name ?? "",
    email: of.email ?? "",
    organizationId: of.organizationId ?? "",
    groups: Object.freeze([...(of.groups ?? [])]),
    roles: Object.freeze([...(of.roles ?? [])]),
    scopes: Object.freeze([...(of.scopes ?? [])]),
    source: isUser ? "gateway" : "internal",
  });
}

/** The identity headers that the edge gateway would set for a user. */
export function identityHeadersOf(user: TestUser): Record<string, string> {
  const lists = { groups: user.groups, roles: user.roles, scopes: user.scopes };
  const given = Object.entries(lists).filter(([, values]) => values !== undefined);
  return {
    "x-svc-external-sub": user.user,
    ...text("x-svc-subject-type", user.subjectType),
    ...text("x-svc-external-username", user.username),
    ...text("x-svc-external-display-name", user.name),
    ...text("x-svc-external-email", user.email),
    ...text("x-svc-external-owner", user.organizationId),
    // Explicit lists are only accepted together with this header.
    ...(given.length === 0 ? {} : { "x-svc-auth-verified": "true" }),
    ...Object.fromEntries(given.map(([name, values]) => [`x-svc-${name}`, asciiJson(values)])),
  };
}

function text(name: string, value: string | undefined): Record<string, string> {
  // Each byte of UTF-8 as one character, as headers are read.
  const bytes = Buffer.from(value ?? "", "utf8").toString("latin1");
  return bytes === "" ? {} : { [name]: bytes };
}

/** Headers must be ASCII; JSON can be written in ASCII. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
