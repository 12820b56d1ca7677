import { randomBytes, randomUUID } from "node:crypto";
import { REQUEST_ID_HEADER } from "../../call/request-id.ts";
import type { CallContext } from "../../call-context.ts";
import type { ClientInterceptor } from "../client-call.ts";
import { type ClientOptions, DEFAULT_USER_AGENT } from "../client-options.ts";

const DEFAULT_TOKEN_HEADER = "X-Svc-Internal-Token";
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** Says who calls and on whose behalf: request id, trace and user agent. */
export function requestInfo({ userAgent = DEFAULT_USER_AGENT }: ClientOptions): ClientInterceptor {
  return (call, next) => {
    const { context } = call.options;
    call.headers.set(REQUEST_ID_HEADER, context?.requestId ?? randomUUID());
    call.headers.set("traceparent", traceparentOf(context));
    call.headers.set("user-agent", userAgent);
    return next();
  };
}

/** The headers of the client and of the call, and the token of calls between services. */
export function metadata(options: ClientOptions): ClientInterceptor {
  const { internalToken } = options;
  const tokenHeader = (options.internalTokenHeader ?? DEFAULT_TOKEN_HEADER).toLowerCase();
  const own = Object.entries(options.metadata ?? {}).map(lowerCased);
  return (call, next) => {
    for (const [name, value] of own) call.headers.set(name, value);
    if (internalToken !== undefined) {
      const token = typeof internalToken === "string" ? internalToken : internalToken();
      call.headers.set(tokenHeader, token);
    }
    for (const entry of Object.entries(call.options.metadata ?? {})) {
      call.headers.set(...lowerCased(entry));
    }
    return next();
  };
}

function lowerCased([name, value]: [string, string]): [string, string] {
  return [name.toLowerCase(), value];
}

/** The trace goes on below the span of the call that is being served (W3C trace context). */
function traceparentOf(context: CallContext | undefined): string {
  const traceId = context?.traceId ?? "";
  const spanId = (context as { readonly spanId?: string } | undefined)?.spanId ?? "";
  const trace = TRACE_ID.test(traceId) ? traceId : randomBytes(16).toString("hex");
  const span = SPAN_ID.test(spanId) ? spanId : randomBytes(8).toString("hex");
  return `00-${trace}-${span}-01`;
}
