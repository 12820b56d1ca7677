import type { CredentialKind } from "../../call/call.ts";
import type { Principal } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import type { Peer } from "../../peer/peer.ts";

/** What an authenticator may look at. */
export interface AuthenticationRequest {
  readonly headers: CallHeaders;
  readonly peer: Peer;
  /** Whether the peer's identity headers count. */
  readonly peerIsTrusted: boolean;
  /** The HTTP method as it was sent, `POST` over gRPC. */
  readonly httpMethod: string;
  readonly signal: AbortSignal;
}

/** Who calls, and how that is known. */
export interface Identity {
  readonly principal: Principal;
  readonly credential: Exclude<CredentialKind, "none">;
}

/** Recognises one kind of credential. Authenticators are asked in turn; the first that finds its kind decides. */
export interface Authenticator {
  /** For metrics and logs, such as `jwt`. */
  readonly name: string;
  /**
   * Who calls; undefined where the call carries no credential of this kind.
   *
   * @throws ServiceError UNAUTHORIZED where it carries a wrong one; UNAVAILABLE where that cannot
   * be found out now
   */
  authenticate(
    request: AuthenticationRequest,
  ): Identity | undefined | Promise<Identity | undefined>;
}
