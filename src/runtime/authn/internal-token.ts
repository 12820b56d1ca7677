import { ServiceError } from "../error/service-error.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "./authenticator.ts";
import { digestOf, findDigest } from "./secret-digest.ts";
import { SYSTEM_CALLER } from "./system-caller.ts";

/** A token that is accepted; several of one service are, while they rotate. */
export interface ServiceToken {
  readonly service: string;
  readonly token: string;
}

/** The tokens of `security.authn.internal_call`. */
export interface InternalTokens {
  readonly header: string;
  /** One token of any service, or those of each; absent, none is accepted. */
  readonly token?: string | readonly ServiceToken[] | undefined;
  /** The token of SYSTEM calls. */
  readonly systemToken?: string | undefined;
}

/** Who calls with a token that names no service. */
const UNNAMED_SERVICE = "internal";
const NONE: readonly string[] = Object.freeze([]);

/** Recognises other services, and the system, by their secret tokens. */
export class InternalTokenAuthenticator implements Authenticator {
  readonly name = "internal";
  readonly #header: string;
  readonly #digests: readonly Buffer[];
  readonly #identities: readonly Identity[];

  constructor({ header, token = [], systemToken }: InternalTokens) {
    const tokens = typeof token === "string" ? [{ service: UNNAMED_SERVICE, token }] : token;
    const accepted = tokens.map((one) => ({
      ...one,
      identity: identityOf(one.service, "internal"),
    }));
    if (systemToken !== undefined) {
      const identity = identityOf(SYSTEM_CALLER, "system");
      accepted.push({ service: SYSTEM_CALLER, token: systemToken, identity });
    }
    // The configuration has refused these; here they would let in whoever sends nothing.
    const usable = accepted.filter((one) => one.token !== "");
    this.#header = header.toLowerCase();
    this.#digests = usable.map((one) => digestOf(one.token));
    this.#identities = usable.map(({ identity }) => identity);
  }

  authenticate({ headers }: AuthenticationRequest): Identity | undefined {
    const values = headers.all(this.#header);
    if (values.length === 0) return undefined;
    // A second value must not be passed over, and an empty one is compared as any other.
    const token = values.length === 1 ? (values[0] as string) : "";
    const identity = this.#identities[findDigest(digestOf(token), this.#digests)];
    if (identity === undefined) throw new ServiceError("UNAUTHORIZED", "wrong internal token");
    return identity;
  }
}

/** Of all calls of the service, so nobody may change it. */
function identityOf(service: string, credential: "internal" | "system"): Identity {
  return Object.freeze({
    credential,
    principal: Object.freeze({
      subjectId: service,
      subjectType: "service",
      username: service,
      name: "",
      email: "",
      organizationId: "",
      groups: NONE,
      roles: NONE,
      scopes: NONE,
      source: "internal",
    }),
  });
}
