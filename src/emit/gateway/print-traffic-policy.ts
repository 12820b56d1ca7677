import { SUBJECT_HEADER } from "../../api/identity-headers.ts";
import type { ErrorPlan, FrontendPlan, GatewayPlan, LimitPlan } from "./plan.ts";
import type { CorsPlan } from "./plan-policies.ts";
import { exposedHeaders } from "./print-security-policy.ts";
import { type CommentedResource, resource, routeRef } from "./resource.ts";

/** The policy for the gateway's own error responses on the routes of services. */
export function printErrors(
  errors: ErrorPlan,
  { namespace, cors }: FrontendPlan,
): CommentedResource {
  return {
    comment:
      "The gateway's own error responses on these routes have the form of the services' errors. The\nlogin (302) and the responses of services stay unchanged.",
    resource: resource("BackendTrafficPolicy", errors.name, namespace, {
      targetRefs: errors.routes.map((name) => routeRef({ name })),
      responseOverride: responseOverrides(cors),
    }),
  };
}

/** A rate limit. It replaces the policy for errors on its rules, so it contains the same overrides. */
export function printLimit(
  limit: LimitPlan,
  frontend: FrontendPlan,
  plan: GatewayPlan,
): CommentedResource {
  const { by, requestsPerSecond: requests, targets, name } = limit;
  const rules = SELECTORS[by].map((clientSelector) => {
    return { clientSelectors: [clientSelector], limit: { requests, unit: "Second" } };
  });
  const who = by === "subject" ? "subject" : "client address";
  const where =
    plan.rateLimit === "local"
      ? "Each Envoy counts separately"
      : "The rate-limit service of Envoy Gateway counts; its configuration must enable one";
  return {
    comment: `${requests} requests per second for each ${who} and each rule. ${where}.\nThis is coarse protection: services enforce the exact limits of RPCs.`,
    resource: resource("BackendTrafficPolicy", name, frontend.namespace, {
      targetRefs: targets.map(({ route, rule }) => ({
        ...routeRef({ name: route }),
        sectionName: rule,
      })),
      rateLimit: { [plan.rateLimit]: { rules } },
      responseOverride: responseOverrides(frontend.cors),
    }),
  };
}

/** `Distinct` counts each value separately, in local and global rate limits. */
const SELECTORS: Readonly<Record<LimitPlan["by"], readonly Record<string, unknown>[]>> = {
  // The rate limit runs after JWT authentication, which sets the header.
  subject: [{ headers: [{ name: SUBJECT_HEADER, type: "Distinct" }] }],
  address: [
    { sourceCIDR: { type: "Distinct", value: "0.0.0.0/0" } },
    { sourceCIDR: { type: "Distinct", value: "::/0" } },
  ],
};

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
function responseOverrides(cors: CorsPlan | undefined): Record<string, unknown>[] {
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
