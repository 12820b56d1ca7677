/** Headers that frame a message, or concern one connection only: no handler sets those, over any transport. */
export const FRAMING_HEADERS: readonly string[] = [
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
