/** An answer of the gateway itself, as the runtime would have given it (design.md, "Errors"). */
export interface EdgeError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the gateway answers by itself. A test holds codes and messages against the runtime's. */
export const EDGE_ERRORS: readonly EdgeError[] = [
  { status: 400, code: "INVALID_ARGUMENT", message: "invalid argument" },
  { status: 401, code: "UNAUTHORIZED", message: "unauthorized" },
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

/** The `responseOverride` of a BackendTrafficPolicy. Source Local: an answer of a service is never rewritten. */
export const RESPONSE_OVERRIDE = EDGE_ERRORS.map(({ status, code, message, headers }) => {
  return {
    match: { statusCodes: [{ type: "Value", value: status }] },
    source: "Local",
    response: {
      contentType: "application/json",
      body: {
        type: "Inline",
        inline: JSON.stringify({ status, code, message, request_id: REQUEST_ID }),
      },
      ...(headers === undefined
        ? {}
        : { header: { set: Object.entries(headers).map(([name, value]) => ({ name, value })) } }),
    },
  };
});
