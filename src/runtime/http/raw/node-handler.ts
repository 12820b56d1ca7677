/// <reference types="node" preserve="true" />
import type { IncomingMessage, ServerResponse } from "node:http";
import { Call } from "../../call/call.ts";
import type { CallContext } from "../../call/call-context.ts";
import { pathAndQuery } from "../routing/request-target.ts";
import type { RawHandler, RawRequest, RenderError } from "./raw-handler.ts";

/**
 * A handler in the style of Node, such as the callback of a Koa or Express application, or of
 * `oidc-provider`.
 */
export type NodeCallback = (request: IncomingMessage, response: ServerResponse) => unknown;

/** How a library is mounted. */
export interface NodeHandlerOptions {
  /** Exactly the declared path, as of `RawHandler`. */
  readonly path: string;
  /**
   * The part of the path that the library does not see, such as `/v1/docs`; absent, it sees all.
   * `originalUrl` of its request has the whole path, as with Express and Koa.
   */
  readonly mount?: string;
  /** The library. It writes the whole response, and may continue after it has returned. */
  readonly handle: NodeCallback;
  /** Renders the errors of the path, as of `RawHandler`. */
  readonly renderError?: RenderError;
}

/** What a library sees instead of the received request. */
export interface NodeRequestParts {
  /** The path and query; those of the request where absent. */
  readonly url?: string;
  /** The body; that of the request where absent, read within the limits of the server. */
  readonly body?: Uint8Array;
}

/**
 * Mounts a handler in the style of Node at a declared path, after the whole chain: authentication,
 * rate limit, audit, and the limits of bodies. See `serveNode` for what it gets.
 *
 * @throws TypeError if `mount` is not a part of the path
 *
 * @example
 * ```ts
 * const pages = nodeHandler({
 *   path: "/v1/notes/pages",
 *   mount: "/v1/notes",
 *   handle: (request, response) => response.end(`you asked for ${request.url}`),
 * });
 * const server = await createServer({ configuration, bindings, rawHandlers: [pages] });
 * ```
 */
export function nodeHandler(options: NodeHandlerOptions): RawHandler {
  const { path, mount = "", handle, renderError } = options;
  const isPart = mount === "" || path === mount || path.startsWith(`${mount}/`);
  if (!isPart || (mount !== "" && !/^\/.*[^/]$/.test(mount))) {
    throw new TypeError(
      `the handler of ${path} cannot be mounted at ${JSON.stringify(mount)}: write the first segments of its path, such as /v1/docs`,
    );
  }
  return {
    path,
    handle: (request, context) => {
      const url = `${request.path.slice(mount.length) || "/"}${queryOf(request.incoming)}`;
      return serveNode(request, context, handle, { url });
    },
    ...(renderError === undefined ? {} : { renderError }),
  };
}

/**
 * Lets a library in the style of Node answer the request of a raw handler, and waits until it has
 * sent the response, within the time limit of the call.
 *
 * The library gets a request of its own: with the body as a stream, already read within
 * `server.http.max_body_bytes`, also over HTTP/2, with a `host` and without pseudo-headers. Its
 * `x-forwarded-for` is the address of the client, and `x-forwarded-proto` that of a trusted peer;
 * other headers of proxies are removed, so a library may be configured to trust them. It writes to the
 * response of the server, which already has the headers that were set by `setResponseHeader`, and
 * `Cache-Control: no-store` unless the call is PUBLIC and without a caller; it may replace them.
 *
 * @param request - the request of the raw handler
 * @param context - the context of the raw handler
 * @param handle - the library
 * @param parts - what it sees instead of the received request
 * @throws ServiceError as `request.body`; what the library throws
 *
 * @example
 * ```ts
 * const hook: RawHandler = {
 *   path: "/v1/notes/hook",
 *   handle: (request, context) =>
 *     serveNode(request, context, (_, response) => response.end("ok"), { url: "/hook" }),
 * };
 * ```
 */
export async function serveNode(
  request: Pick<RawRequest, "method" | "path" | "body" | "incoming" | "response">,
  context: CallContext,
  handle: NodeCallback,
  { url, body }: NodeRequestParts = {},
): Promise<undefined> {
  const { incoming, response } = request;
  const original = `${request.path}${queryOf(incoming)}`;
  const copy = await requestOf(incoming, context, body ?? (await request.body()));
  const seen = Object.assign(copy, {
    method: request.method,
    url: url ?? original,
    originalUrl: original,
  });
  setHeaders(response, context);
  // A library that continues after its deadline writes to a response that has ended.
  response.on("error", () => undefined);
  await handle(seen, response);
  await untilSent(response);
  return undefined;
}

/** The headers by which proxies say what they have received: none that a caller could have written remains. */
const FORWARDED = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-prefix",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

/** A request that has been read, and that a library can read again. */
async function requestOf(
  incoming: IncomingMessage,
  context: CallContext,
  body: Uint8Array,
): Promise<IncomingMessage> {
  // Services without such a handler do not load it for this.
  const { IncomingMessage } = await import("node:http");
  const request = new IncomingMessage(incoming.socket);
  request.httpVersionMajor = incoming.httpVersionMajor;
  request.httpVersionMinor = incoming.httpVersionMinor;
  request.httpVersion = incoming.httpVersion;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !name.startsWith(":")),
  );
  const authority = incoming.headers[":authority"];
  if (typeof authority === "string") headers["host"] = authority;
  const proto = headers["x-forwarded-proto"];
  for (const name of FORWARDED) delete headers[name];
  if (context.clientAddress !== "") headers["x-forwarded-for"] = context.clientAddress;
  if (context instanceof Call && context.peerIsTrusted && typeof proto === "string") {
    headers["x-forwarded-proto"] = proto;
  }
  const hasBody = body.length > 0 || headers["content-length"] !== undefined;
  for (const name of ["content-length", "transfer-encoding", "expect"]) delete headers[name];
  if (hasBody) headers["content-length"] = String(body.length);
  if (body.length > 0) request.push(body);
  request.push(null);
  request.headers = headers;
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value].flat() as string[]]);
  request.headersDistinct = Object.fromEntries(pairs);
  request.rawHeaders = pairs.flatMap(([name, values]) =>
    [...(values as string[])].flatMap((value) => [name as string, value]),
  );
  request.complete = true;
  // The connection is not the library's to close: it may serve other requests.
  request._destroy = (error, done) => done(error);
  return request;
}

function setHeaders(response: ServerResponse, context: CallContext): void {
  if (!(context instanceof Call)) return;
  const { principal, method } = context;
  if (principal !== undefined || method.policy.exposure !== "PUBLIC") {
    response.setHeader("Cache-Control", "no-store");
  }
  for (const [name, value] of context.responseHeaders ?? []) response.setHeader(name, value);
}

function untilSent(response: ServerResponse): Promise<void> {
  if (response.writableFinished || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    response.once("finish", resolve);
    response.once("close", resolve);
  });
}

/** The query with its question mark, also if it is empty. */
function queryOf({ url = "" }: IncomingMessage): string {
  return url.slice(pathAndQuery(url).path.length);
}
