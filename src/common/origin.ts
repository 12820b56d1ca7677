/** 1 to 65535; a pattern, so that editors can check it, too. */
export const PORT =
  "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";

/**
 * An origin of CORS: a scheme, a host and optionally a port. A user, a wildcard or a path, even `/`,
 * is not allowed: browsers send none of these, so such an origin would never match.
 */
export const ORIGIN = new RegExp(
  `^https?://(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])(?::${PORT})?$`,
);

/** The maximum length of an origin, which is that of a host name. */
export const MAX_ORIGIN = 253;
