import type { CorsPlan } from "./plan-policies.ts";
import { exposedHeaders } from "./print-security-policy.ts";

/** An error response of the gateway itself, in the form of the runtime's (docs/requirements.md, EDGE-12). */
export interface EdgeError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error responses of the gateway itself. A test compares codes and messages with those of the runtime. */
export const EDGE_ERRORS: readonly EdgeError[] = [
  { status: 400, code: "INVALID_ARGUMENT", message: "invalid argument" },
  {
    status: 401,
    code: "UNAUTHORIZED",
    message: "unauthorized",
    headers: { "WWW-Authenticate": "Bearer" },
  },
  { status: 403, code: "FORBIDDEN", message: "permission denied" },
  {
    status: 429,
    code: "RATE_LIMITED",
    message: "rate limited",
    // The edge limits rates per second.
    headers: { "Retry-After": "1" },
  },
  { status: 503, code: "UNAVAILABLE", message: "unavailable" },
];

/** The request id from Envoy; it is never text of the caller. */
const REQUEST_ID = "%REQ(X-REQUEST-ID)%";

/**
 * The CORS headers of the response, which an override drops. Only an allowed origin got such
 * headers, so the origin of the request is that origin.
 */
const CORS_HEADERS = {
  "Access-Control-Allow-Origin": "%REQ(ORIGIN)%",
  "Access-Control-Allow-Credentials": "true",
} as const;
const ALLOWED_ORIGIN = [
  {
    name: "access-control-allow-origin",
    value: { type: "RegularExpression", value: ".+" },
  },
];

/** The `responseOverride` of a BackendTrafficPolicy. The first that matches wins. */
export function responseOverrides(cors: CorsPlan | undefined): Record<string, unknown>[] {
  const plain = EDGE_ERRORS.map((error) => override(error, {}, {}));
  if (cors === undefined) return plain;
  const headers = {
    ...CORS_HEADERS,
    "Access-Control-Expose-Headers": exposedHeaders(cors).join(", "),
  };
  const match = { responseHeaders: ALLOWED_ORIGIN };
  return [...EDGE_ERRORS.map((error) => override(error, match, headers)), ...plain];
}

function override(
  { status, code, message, headers }: EdgeError,
  match: object,
  more: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const set = Object.entries({ ...headers, ...more });
  return {
    match: { statusCodes: [{ type: "Value", value: status }], ...match },
    // Responses of services are never rewritten.
    source: "Local",
    response: {
      contentType: "application/json",
      body: {
        type: "Inline",
        inline: JSON.stringify({ status, code, message, request_id: REQUEST_ID }),
      },
      ...(set.length === 0
        ? {}
        : { header: { set: set.map(([name, value]) => ({ name, value })) } }),
    },
  };
}
