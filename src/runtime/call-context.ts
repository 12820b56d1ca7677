import type { Principal } from "./principal.ts";

/** What a handler knows of the call beside its request; the same over HTTP and gRPC. */
export interface CallContext {
  /** The full method name. */
  readonly rpc: string;
  /** The caller; absent where the exposure lets anybody in and nobody was identified. */
  readonly principal: Principal | undefined;
  /** The id that logs, errors and audit events of this call share. */
  readonly requestId: string;
  /** Aborts when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
}
