import { randomBytes, randomUUID } from "node:crypto";
import type { CallContext } from "../../call/call-context.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";
import { REQUEST_ID_HEADER, traceIdOf } from "../../call/call-ids.ts";
import { ServiceError } from "../../error/service-error.ts";
import {
  type ClientInterceptor,
  type ClientOptions,
  DEFAULT_USER_AGENT,
} from "../call/client-call.ts";

const DEFAULT_TOKEN_HEADER = "X-Svc-Internal-Token";
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
/** The maximum length of `tracestate` that must be propagated. */
const MAX_STATE = 512;
const PRINTABLE = /^[\x20-\x7e]+$/;
const SENDABLE = { grpc: /^[\x20-\x7e]*$/, http: /^[\t\x20-\x7e\x80-\xff]*$/ } as const;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** Says who calls and on whose behalf: request id, trace and user agent. */
export function requestInfo({ userAgent = DEFAULT_USER_AGENT }: ClientOptions): ClientInterceptor {
  return (call, next) => {
    const { context } = call.options;
    call.headers.set(REQUEST_ID_HEADER, context?.requestId ?? randomUUID());
    for (const [name, value] of traceHeaders(context)) call.headers.set(name, value);
    call.headers.set("user-agent", userAgent);
    return next();
  };
}

/** The headers of the client and of the call, and the token of calls between services. */
export function metadata(options: ClientOptions): ClientInterceptor {
  const { internalToken } = options;
  const tokenHeader = (options.internalTokenHeader ?? DEFAULT_TOKEN_HEADER).toLowerCase();
  const own = Object.entries(options.metadata ?? {}).map(lowerCased);
  return async (call, next) => {
    for (const [name, value] of own) call.headers.set(name, value);
    if (internalToken !== undefined) {
      const token = typeof internalToken === "string" ? internalToken : internalToken();
      call.headers.set(tokenHeader, token);
    }
    for (const entry of Object.entries(call.options.metadata ?? {})) {
      const [name, values] = entry;
      call.headers.set(
        ...lowerCased([name, typeof values === "string" ? values : values.join(",")]),
      );
    }
    for (const [name, value] of call.headers) checkSendable(call.transport, name, value);
    return next();
  };
}

/**
 * Before a transport refuses it with an error that contains the value, which may be a secret.
 *
 * @throws ServiceError INTERNAL
 */
function checkSendable(transport: "http" | "grpc", name: string, value: string): void {
  if (SENDABLE[transport].test(value)) return;
  const what = `the header ${name} has characters that cannot be sent`;
  const cause = new Error(`${what}; if it was read from a file, trim it`);
  throw new ServiceError("INTERNAL", undefined, { cause });
}

function lowerCased([name, value]: [string, string]): [string, string] {
  return [name.toLowerCase(), value];
}

/**
 * The trace of the call that is being served (W3C trace context). This process makes no spans, else
 * its tracing replaces these headers: the caller's span, whether the trace is sampled, and vendor
 * data are propagated unchanged.
 */
function traceHeaders(context: CallContext | undefined): [string, string][] {
  const { headers } = (context ?? {}) as { readonly headers?: CallHeaders };
  const sent = headers === undefined ? undefined : single(headers, "traceparent");
  if (headers === undefined || sent === undefined || traceIdOf(sent) !== context?.traceId) {
    return [["traceparent", traceparentOf(context)]];
  }
  const state = headers.all("tracestate").join(",");
  const isState = state !== "" && state.length <= MAX_STATE && PRINTABLE.test(state);
  return [["traceparent", sent], ...(isState ? [["tracestate", state] as [string, string]] : [])];
}

function traceparentOf(context: CallContext | undefined): string {
  const traceId = context?.traceId ?? "";
  const spanId = (context as { readonly spanId?: string } | undefined)?.spanId ?? "";
  const trace = TRACE_ID.test(traceId) ? traceId : randomBytes(16).toString("hex");
  const span = SPAN_ID.test(spanId) ? spanId : randomBytes(8).toString("hex");
  const isSampled = (context as { readonly isSampled?: boolean } | undefined)?.isSampled;
  return `00-${trace}-${span}-${isSampled === true ? "01" : "00"}`;
}
