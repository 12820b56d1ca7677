import type { Attributes } from "@opentelemetry/api";
import { streamsResponse } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import { single } from "../../call/call-headers.ts";
import type { Transport } from "../../call/transports.ts";
import { status } from "../../error/error-codes.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { cleanLine, redactText } from "../../logging/redaction/redact-text.ts";
import { pathOf } from "../access-log/access-line.ts";

/** The attributes of a span at the end of its call. */
export interface SpanEnd {
  readonly attributes: Attributes;
  /** The error on this side; absent if the call succeeded or the caller is at fault. */
  readonly errorType?: string;
}

const MAX_PATH = 512;
const MAX_AGENT = 160;
const MAX_HOST = 256;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/i;

/** The methods that the conventions know; others are `_OTHER`, so that nobody makes them up. */
const METHODS: ReadonlySet<string> = new Set(
  "GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY".split(" "),
);

/** The name of a span: method and route, which are few, and never the path. */
export function httpSpanName(call: Call): string {
  const method = METHODS.has(call.httpMethod) ? call.httpMethod : "HTTP";
  return `${method} ${call.route ?? call.rpc}`;
}

/** The attributes of a request by the HTTP conventions. */
export function httpAttributes(call: Call): Attributes {
  const attributes: Attributes = {
    "url.path": cleanLine(redactText(pathOf(call.target)), MAX_PATH),
  };
  const isKnown = METHODS.has(call.httpMethod);
  attributes["http.request.method"] = isKnown ? call.httpMethod : "_OTHER";
  if (!isKnown) attributes["http.request.method_original"] = cleanLine(call.httpMethod, MAX_AGENT);
  if (call.route !== undefined) attributes["http.route"] = call.route;
  const agent = single(call.headers, "user-agent");
  if (agent !== undefined) {
    attributes["user_agent.original"] = cleanLine(redactText(agent), MAX_AGENT);
  }
  const host = single(call.headers, "host");
  const [, name, port] =
    host === undefined || host.length > MAX_HOST ? [] : (HOST.exec(host) ?? []);
  if (name !== undefined) attributes["server.address"] = name.replace(/^\[|\]$/g, "");
  if (port !== undefined) attributes["server.port"] = Number(port);
  return attributes;
}

/** The outcome of a request. */
export function endOfHttp(call: Call, error: ServiceError | undefined): SpanEnd {
  const attributes: Attributes = {};
  // A stream that has begun has the status 200, regardless of its outcome.
  const hasBegun = streamsResponse(call.method.kind) && call.responseBytes > 0;
  const status = hasBegun ? 200 : (call.sentStatus ?? error?.status ?? call.responseStatus);
  const isCancelled = error?.code === "CANCELLED" && call.sentStatus === undefined;
  if (!isCancelled || hasBegun) attributes["http.response.status_code"] = status;
  // A gateway that is trusted says how the client came to it.
  const scheme = call.peerIsTrusted ? single(call.headers, "x-forwarded-proto") : undefined;
  if (scheme === "http" || scheme === "https") attributes["url.scheme"] = scheme;
  // What the caller did wrong is not a fault of the server.
  if (error !== undefined && (isCancelled || (hasBegun && error.status >= 500))) {
    return { attributes, errorType: error.code };
  }
  return status >= 500 ? { attributes, errorType: String(status) } : { attributes };
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(status).map(([name, code]) => [code, name]),
);

/** The codes that are the server's fault, by the semantic conventions. */
const SERVER_FAULTS: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** Calls by the routes of HTTP have its conventions. */
type RpcTransport = Exclude<Transport, "http">;

/** The systems of the conventions of RPCs. */
const RPC_SYSTEMS: Readonly<Record<RpcTransport, "grpc" | "connectrpc">> = {
  grpc: "grpc",
  grpc_web: "grpc",
  connect: "connectrpc",
};

/** The attributes of each gRPC, gRPC-Web and Connect call by the conventions. */
export function rpcAttributes(transport: RpcTransport): Attributes {
  return { "rpc.system.name": RPC_SYSTEMS[transport] };
}

/** The name of a status code, such as `NOT_FOUND`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "UNKNOWN";
}

/** The outcome of a call over one of these. */
export function endOfRpc(transport: RpcTransport, error: ServiceError | undefined): SpanEnd {
  const code = error?.grpcStatus ?? status.OK;
  const name = statusName(code);
  const isConnect = RPC_SYSTEMS[transport] === "connectrpc";
  // Connect names only errors, in lower case.
  if (isConnect && error === undefined) return { attributes: {} };
  const reported = isConnect ? name.toLowerCase() : name;
  const attributes = { "rpc.response.status_code": reported };
  return SERVER_FAULTS.has(code) ? { attributes, errorType: reported } : { attributes };
}
