/** 1 to 65535; a pattern, so that editors know it, too. */
export const PORT =
  "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";

/**
 * An origin of CORS: scheme, host and perhaps a port, and nothing else: no user, no wildcard and no
 * path, not even `/`: a browser sends none of these, so an origin with one would never match.
 */
export const ORIGIN = new RegExp(
  `^https?://(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])(?::${PORT})?$`,
);

/** The most characters of an origin; a host name has as many at most. */
export const MAX_ORIGIN = 253;
