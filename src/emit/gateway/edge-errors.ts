import type { CorsPlan } from "./plan-policies.ts";
import { exposedHeaders } from "./print-security-policy.ts";

/** An answer of the gateway itself, as the runtime would have given it (docs/requirements.md, EDGE-12). */
export interface EdgeError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the gateway answers by itself. A test holds codes and messages against the runtime's. */
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
    // The edge counts by the second.
    headers: { "Retry-After": "1" },
  },
  { status: 503, code: "UNAVAILABLE", message: "unavailable" },
];

/** The id that Envoy gave the request; it is never the caller's text. */
const REQUEST_ID = "%REQ(X-REQUEST-ID)%";

/**
 * What an override leaves out of the answer that it replaces: the answer of CORS. Only an origin that
 * the policy of CORS allows has got one, so the request's is that origin.
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
    // An answer of a service is never rewritten.
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
