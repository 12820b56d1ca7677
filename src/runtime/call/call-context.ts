import type { RiskLevel } from "../../api/policy.ts";
import { missingPrincipal } from "../error/service-error.ts";

/** What a handler knows of the call beside its request; the same over HTTP and gRPC. */
export interface CallContext {
  /** The full method name. */
  readonly rpc: string;
  /** The caller; absent where the exposure lets anybody in and nobody was identified. */
  readonly principal: Principal | undefined;
  /** The id that logs, errors and audit events of this call share. */
  readonly requestId: string;
  /** The id of the trace, 32 hexadecimal digits (W3C trace context). */
  readonly traceId: string;
  /** The address of the client, behind the proxies that are trusted. */
  readonly clientAddress: string;
  /** When the call must be done, in milliseconds since the epoch. */
  readonly deadline: number;
  /** Aborts when the caller has gone, the deadline has passed, or the server shuts down. */
  readonly signal: AbortSignal;
  /** What the handler adds to the audit of the call. */
  readonly audit: CallAudit;
  /**
   * Sets a header of the response, or of the initial metadata.
   *
   * @throws TypeError for one that cannot be sent, or where all are larger than 16 KiB; Error once
   * the response was begun
   */
  setResponseHeader(name: string, value: string): void;
  /**
   * Adds a value to a header of the response, beside those that it has; otherwise likewise. One that
   * has a single value by HTTP, such as `ETag`, takes no second.
   */
  appendResponseHeader(name: string, value: string): void;
  /**
   * Sets trailing metadata of the response, which gRPC, gRPC-Web and Connect send with its status.
   * Nobody would see it over a route of HTTP: there it is not sent.
   *
   * @throws TypeError for one that cannot be sent, or where all are larger than 16 KiB; Error once
   * the response was ended
   */
  setResponseTrailer(name: string, value: string): void;
  /** Adds a value to trailing metadata, beside those that it has; otherwise likewise. */
  appendResponseTrailer(name: string, value: string): void;
}

/** The authenticated caller. */
export interface Principal {
  /** The unique user identifier. */
  readonly subjectId: string;
  /** The subject type of the authorization model: `user` from the gateway or a JWT, `service` from an internal token. */
  readonly subjectType: string;
  readonly username: string;
  /** The display name. */
  readonly name: string;
  readonly email: string;
  readonly organizationId: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Where the authentication comes from. */
  readonly source: "gateway" | "jwt" | "internal";
}

/** A further event of a call, of the handler's own (`context.audit.record`). */
export interface AuditRecord {
  /** Lower-case words joined by dots, such as `session.revoke`; at most 128 characters. */
  readonly event: string;
  /** LOW where absent. */
  readonly riskLevel?: RiskLevel;
  /** The object that it is about, as `type:id`. */
  readonly resource?: string;
  /**
   * What else there is to say: at most 16 short facts, by names of lower-case letters, digits
   * and `_`. Never a secret: what looks like one, or has the name of one, is left out.
   */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** What a handler adds to the audit of its call. */
export interface CallAudit {
  /**
   * Names the object that the call is about, such as one that the handler created, in the place of
   * that of the policy; what was authorized stays in the event. Without effect where the RPC is not audited.
   *
   * @param resource `type:id`
   * @throws TypeError where that is not a valid object; Error once the event was completed
   */
  setResource(resource: string): void;
  /**
   * Stores a further event, linked to the call. Resolves when it is stored, or waits for the database.
   * A call records at most 100. Work that outlasts the call may still record: what it does must not go
   * unrecorded because its caller has hung up.
   *
   * @throws TypeError for an event that is not valid; RangeError for one too many; Error where the
   * service has no database, or its server has ended
   */
  record(event: AuditRecord): Promise<void>;
}

/** Of a service without a database. */
export const NO_AUDIT: CallAudit = {
  setResource() {},
  async record() {
    throw new Error(
      "audit events cannot be stored: configure database, such as {driver: sqlite, file: …}",
    );
  },
};

/** Handles an RPC with one request and one response. */
export type UnaryHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => Promise<Response>;

/** Handles an RPC with one request and a stream of responses. */
export type ServerStreamingHandler<Request, Response> = (
  request: Request,
  context: CallContext,
) => AsyncIterable<Response>;

/** Handles an RPC with a stream of requests and one response. */
export type ClientStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => Promise<Response>;

/** Handles an RPC with a stream on both sides. */
export type BidiStreamingHandler<Request, Response> = (
  requests: AsyncIterable<Request>,
  context: CallContext,
) => AsyncIterable<Response>;

/**
 * The caller, for handlers that need one.
 *
 * @throws ServiceError UNAUTHORIZED `missing principal` where nobody was identified
 */
export function requirePrincipal({ principal }: Pick<CallContext, "principal">): Principal {
  if (principal === undefined) throw missingPrincipal();
  return principal;
}
