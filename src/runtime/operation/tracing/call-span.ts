import {
  type Attributes,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";
import type { Call } from "../../call/call.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";
import { status } from "../../error/grpc-status.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { pathOf } from "../access-log/access-line.ts";
import { cleanLine } from "../redaction/clean-text.ts";
import { redactText } from "../redaction/redact-text.ts";

const MAX_TEXT = 512;

const HEADERS: TextMapGetter<CallHeaders> = {
  keys: (headers) => [...headers.names()],
  get: (headers, name) => single(headers, name.toLowerCase()),
};

/** The context of the caller's span, as the registered propagator reads it; the root where it sent none. */
export function remoteContext(headers: CallHeaders): Context {
  return propagation.extract(ROOT_CONTEXT, headers, HEADERS);
}

/** What is known of a call when it begins, by OpenTelemetry's semantic conventions. */
export function attributesAtBegin(call: Call): Attributes {
  const { method, transport } = call;
  const attributes: Attributes = { "network.peer.address": call.peer.address };
  if (method.descriptor !== undefined) {
    const slash = method.rpc.lastIndexOf("/");
    attributes["rpc.service"] = method.rpc.slice(0, slash);
    attributes["rpc.method"] = method.rpc.slice(slash + 1);
  }
  if (transport === "grpc") {
    attributes["rpc.system"] = "grpc";
    return attributes;
  }
  attributes["http.request.method"] = cleanLine(call.httpMethod, MAX_TEXT);
  attributes["url.path"] = cleanLine(redactText(pathOf(call.target)), MAX_TEXT);
  const [route, ...more] = method.routes;
  if (route !== undefined && more.length === 0) attributes["http.route"] = route.path;
  return attributes;
}

/** The codes of gRPC that are the server's fault, by the semantic conventions. */
const SERVER_FAULTS: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** Writes what became of a call to its span, and ends that. */
export function endSpan(span: Span, call: Call, error: ServiceError | undefined): void {
  if (call.transport === "grpc") {
    span.setAttribute("rpc.grpc.status_code", error?.grpcStatus ?? status.OK);
  } else {
    span.setAttribute("http.response.status_code", error?.status ?? call.responseStatus);
  }
  if (call.clientAddress !== "") span.setAttribute("client.address", call.clientAddress);
  if (error !== undefined) {
    span.setAttribute("error.type", error.code);
    const isFault =
      call.transport === "grpc" ? SERVER_FAULTS.has(error.grpcStatus) : error.status >= 500;
    if (isFault) span.setStatus({ code: SpanStatusCode.ERROR, message: error.code });
    if (error.code === "INTERNAL" && error.cause instanceof Error) {
      const { name, message, stack = "" } = error.cause;
      span.recordException({
        name,
        message: redactText(message),
        stack: redactText(stack),
      });
    }
  }
  span.end();
}

/** Makes the call part of the trace of its span. */
export function adoptSpan(call: Call, span: Span): void {
  const { traceId, spanId } = span.spanContext();
  if (!trace.isSpanContextValid(span.spanContext())) return;
  call.traceId = traceId;
  call.spanId = spanId;
}
