/**
 * The headers of each page and redirect: no other site shows it or reads from where a browser came, no cache keeps it,
 * and nothing is loaded. A page has a policy of its own for what is loaded. The server adds `nosniff`.
 */
export const SECURITY_HEADERS = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
} as const;
