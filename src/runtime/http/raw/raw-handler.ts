/// <reference types="node" preserve="true" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessPolicy } from "../../../api/format/access-policy.ts";
import type { CallContext } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";

/** A request of a raw handler. */
export interface RawRequest {
  readonly method: string;
  /** The path, without query, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: CallHeaders;
  /** Reads the body, up to the server's limit. */
  body(): Promise<Uint8Array>;
  /** What Node has, for libraries that want it. Who writes to `response` returns nothing. */
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

/** The response of a raw handler. */
export interface RawResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/**
 * Serves a path that is not an RPC: pages, login, callback. The path must be declared for
 * this service in the platform configuration (`paths`), whose exposure it has.
 *
 * @example
 * const hook: RawHandler = {
 *   path: "/v1/notes/hook",
 *   handle: async (request) => ({ status: 202, body: `${(await request.body()).length}` }),
 * };
 */
export interface RawHandler {
  /** The declared path, to the letter. */
  readonly path: string;
  readonly handle: (
    request: RawRequest,
    context: CallContext,
  ) => Promise<RawResponse | undefined> | RawResponse | undefined;
}

/** A path that the platform configuration declares for a service, as the routes document has it. */
export interface DeclaredPath {
  readonly path: string;
  /** Whether it stands for itself or for all below it too. */
  readonly match: "exact" | "prefix";
  /** HTTP methods in upper case; `*` for all. */
  readonly methods: readonly string[];
  readonly exposure: "PUBLIC" | "AUTHENTICATED";
  readonly audit?: AccessPolicy["audit"];
  readonly rateLimit?: AccessPolicy["rateLimit"];
}
