import type { Attributes } from "@opentelemetry/api";
import { streamsResponse } from "../../binding/method-kind.ts";
import type { Call } from "../../call/call.ts";
import { single } from "../../call/call-headers.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { pathOf } from "../access-log/access-line.ts";
import { cleanLine } from "../redaction/clean-text.ts";
import { redactText } from "../redaction/redact-text.ts";
import type { SpanEnd } from "./span-end.ts";

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

/** What the conventions of HTTP say of a request. */
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

/** What became of a request. */
export function endOfHttp(call: Call, error: ServiceError | undefined): SpanEnd {
  const attributes: Attributes = {};
  // A stream that has begun was answered with 200, whatever came of it.
  const hasBegun = streamsResponse(call.method.kind) && call.responseBytes > 0;
  const status = hasBegun ? 200 : (error?.status ?? call.responseStatus);
  const isCancelled = error?.code === "CANCELLED";
  if (!isCancelled || hasBegun) attributes["http.response.status_code"] = status;
  // A gateway that is trusted says how the client came to it.
  const scheme = call.peerIsTrusted ? single(call.headers, "x-forwarded-proto") : undefined;
  if (scheme === "http" || scheme === "https") attributes["url.scheme"] = scheme;
  // What the caller did wrong is no fault of the server.
  if (error !== undefined && (isCancelled || error.status >= 500)) {
    return { attributes, errorType: isCancelled || hasBegun ? error.code : String(error.status) };
  }
  return status >= 500 ? { attributes, errorType: String(status) } : { attributes };
}
