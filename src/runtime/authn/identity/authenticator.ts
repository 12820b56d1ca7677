import type { Principal } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import type { CredentialKind } from "../../call/credential-kinds.ts";
import type { Peer } from "../../peer/peer.ts";

/** The parts of a call that an authenticator may use. */
export interface AuthenticationRequest {
  /** The headers of the call, without the identity headers of a peer that is not trusted. */
  readonly headers: CallHeaders;
  /** The other end of the connection: its address, and the names of its client certificate. */
  readonly peer: Peer;
  /** Whether the peer's identity headers are accepted (docs/requirements.md, HDR-2). */
  readonly peerIsTrusted: boolean;
  /** The HTTP method as it was sent, `POST` over gRPC. */
  readonly httpMethod: string;
  /** Aborts when the caller has cancelled, the deadline has passed, or the server shuts down. */
  readonly signal: AbortSignal;
}

/** The caller, and the credential that identifies it. */
export interface Identity {
  /** The caller, as handlers and audit will see it. */
  readonly principal: Principal;
  /**
   * The kind of credential, which decides what it opens: `internal` INTERNAL RPCs, `system` SYSTEM
   * ones. With `cookie` and `gateway`, which a browser sends by itself, what another site's page
   * would change is refused (docs/requirements.md, HDR-9).
   */
  readonly credential: Exclude<CredentialKind, "none">;
}

/**
 * Recognises one kind of credential. Authenticators are called in turn, those of
 * `ServerOptions.authenticators` last, and the first that finds its kind decides. The others are
 * called too: a call whose credentials name different callers is UNAUTHORIZED, unless the first one
 * is an internal token. A later credential that is not valid is ignored.
 *
 * @example
 * ```ts
 * function sessions(principalOf: (cookie: string) => Promise<Principal | undefined>): Authenticator {
 *   return {
 *     name: "session",
 *     async authenticate({ headers }) {
 *       const cookies = headers.all("cookie");
 *       if (cookies.length === 0) return undefined;
 *       const principal = await principalOf(cookies.join("; "));
 *       if (principal === undefined) throw new ServiceError("UNAUTHORIZED", "the session is over");
 *       return { principal, credential: "cookie" };
 *     },
 *   };
 * }
 * ```
 */
export interface Authenticator {
  /** For metrics and logs, such as `jwt`. */
  readonly name: string;
  /**
   * Who calls; undefined if the call carries no credential of this kind.
   *
   * @throws ServiceError UNAUTHORIZED if the credential is invalid; UNAVAILABLE if it cannot be
   * checked now
   */
  authenticate(
    request: AuthenticationRequest,
  ): Identity | undefined | Promise<Identity | undefined>;
}
