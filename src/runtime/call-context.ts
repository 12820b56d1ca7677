import type { CallAudit } from "./call-audit.ts";
import type { Principal } from "./principal.ts";

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
