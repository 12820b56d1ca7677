/// <reference types="node" preserve="true" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessPolicy } from "../../../api/format.ts";
import type { CallContext } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";
import type { ServiceError } from "../../error/service-error.ts";

/** A request of a raw handler. */
export interface RawRequest {
  /** The HTTP method, as it was sent. */
  readonly method: string;
  /** The path, without query, as it was sent. */
  readonly path: string;
  /** The query, decoded; a name may come more than once. */
  readonly query: URLSearchParams;
  /** The headers, without the identity headers of a peer that is not trusted. */
  readonly headers: CallHeaders;
  /**
   * Reads the whole body; called again, it gives the same one.
   *
   * @throws ServiceError PAYLOAD_TOO_LARGE if it is larger than `server.http.max_body_bytes`,
   * UNSUPPORTED_MEDIA_TYPE if it is compressed, RESOURCE_EXHAUSTED (429) where the calls under
   * way use all memory for bodies, CANCELLED if the caller has cancelled, INTERNAL if something
   * else has read `incoming`
   */
  body(): Promise<Uint8Array>;
  /**
   * Node's own request, for libraries that need it. A handler that writes to `response` returns
   * nothing.
   */
  readonly incoming: IncomingMessage;
  /** Node's own response, belonging to `incoming`. */
  readonly response: ServerResponse;
  /**
   * Names why the handler itself answers with a failure, such as the error that a library has rendered:
   * the log and traces have it, the response does not. The last one counts. An error that `handle`
   * throws needs no name.
   */
  nameCause(error: unknown): void;
}

/** The response of a raw handler. */
export interface RawResponse {
  /** The HTTP status, 200 to 599. */
  readonly status: number;
  /**
   * Headers by names in any case; those that frame the message are the server's. `X-Request-ID` is the id
   * of the log unless it is set, for APIs that must send back whichever id they get.
   */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body; text is sent as UTF-8. Absent, it is empty. */
  readonly body?: string | Uint8Array;
}

/**
 * Serves a path that is not an RPC: pages, login, callback. The path must be declared for
 * this service in the platform configuration (`paths`), whose exposure it has
 * (docs/requirements.md, PLCF-3).
 *
 * @example
 * ```ts
 * const hook: RawHandler = {
 *   path: "/v1/notes/hook",
 *   handle: async (request) => ({ status: 202, body: `${(await request.body()).length}` }),
 * };
 * ```
 */
export interface RawHandler {
  /** Exactly the declared path. */
  readonly path: string;
  /**
   * Handles a request that has passed the chain. It returns the response, or undefined if it has
   * written to `request.response`; it refuses by throwing a `ServiceError`.
   */
  readonly handle: (
    request: RawRequest,
    context: CallContext,
  ) => Promise<RawResponse | undefined> | RawResponse | undefined;
  /**
   * Renders an error of this path in the form of its own protocol or as a page: a refusal of the
   * chain, another HTTP method than the declared ones, and what `handle` throws. Errors are JSON
   * where it is absent, returns undefined, or throws, which is logged.
   *
   * @example
   * ```ts
   * const hook: RawHandler = {
   *   path: "/v1/notes/hook",
   *   handle: () => ({ status: 202 }),
   *   renderError: ({ message }, { requestId }) => ({
   *     headers: { "content-type": "text/plain; charset=utf-8" },
   *     body: `${message} (${requestId})\n`,
   *   }),
   * };
   * ```
   */
  readonly renderError?: RenderError;
}

/**
 * Renders an error of a declared path.
 *
 * @param error - the error as callers may know it: INTERNAL is logged before, and has neither
 * message nor details of its own
 * @param request - the request; nothing has authenticated it
 */
export type RenderError = (
  error: ServiceError,
  request: RefusedRequest,
) => ErrorResponse | undefined;

/** A request that gets an error. Its headers may be forged, also the identity headers. */
export interface RefusedRequest extends Pick<RawRequest, "method" | "path" | "query" | "headers"> {
  /** The id of the request in the log, and in `X-Request-ID` of the response. */
  readonly requestId: string;
}

/** The response to an error. */
export interface ErrorResponse {
  /** The HTTP status, 400 to 599; that of the error if absent. */
  readonly status?: number;
  /**
   * Headers by names in any case. They replace those of the error, which are `Cache-Control: no-store`,
   * and where they apply `Retry-After`, `Allow`, `WWW-Authenticate` and those of the rate limit. Name the
   * `Content-Type` of the body: there is none otherwise.
   */
  readonly headers?: RawResponse["headers"];
  /** The body; text is sent as UTF-8. */
  readonly body: string | Uint8Array;
}

/** A path that the platform configuration declares for a service, as the routes document has it. */
export interface RawPath {
  readonly path: string;
  /** Whether it matches only itself, or all paths below it too. */
  readonly match: "exact" | "prefix";
  /** HTTP methods in upper case; `*` for all. */
  readonly methods: readonly string[];
  readonly exposure: "PUBLIC" | "AUTHENTICATED";
  readonly audit?: AccessPolicy["audit"];
  readonly rateLimit?: AccessPolicy["rateLimit"];
}
