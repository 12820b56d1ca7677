/** They frame a message, or concern one connection only: no handler sets those, over any transport. */
const FRAMING: readonly string[] = [
  "connection",
  "content-length",
  "content-type",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** What handlers of routes cannot set: the server sets the last two itself, in response-head.ts. */
export const RESERVED_OF_HTTP: ReadonlySet<string> = new Set([
  ...FRAMING,
  "x-content-type-options",
  "x-request-id",
]);

/** What raw handlers cannot set: the framing is the server's, and the content type is theirs. */
export const RESERVED_OF_RAW: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
]);

/** What handlers cannot set over gRPC: the protocol itself sends it. */
export const RESERVED_OF_GRPC = new RegExp(`^(:|grpc-|(${FRAMING.join("|")})$)`);

/**
 * What handlers cannot set over Connect and gRPC-Web: the protocols themselves, which name
 * trailers and encodings by prefixes, the cache and CORS.
 */
export const RESERVED_OF_WEB = new RegExp(
  `^(:|grpc-|connect-|trailer-|access-control-|content-|(${[
    ...FRAMING,
    "accept-encoding",
    "cache-control",
    "vary",
    "x-content-type-options",
  ].join("|")})$)`,
);
