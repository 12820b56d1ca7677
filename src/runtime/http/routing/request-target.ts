import { invalidArgument } from "../../error/service-error.ts";
import { decodeSegment } from "../transcoding/percent-encoding.ts";

/** The two parts of a URL, as they were sent. */
export interface PathAndQuery {
  readonly path: string;
  /** The part after the question mark; empty if there is none. */
  readonly query: string;
}

/** The target of a request, in its two parts, as they were sent. */
export interface RequestTarget extends PathAndQuery {
  /** Begins with a slash; has no empty segment except perhaps the last one, and no dot segment. */
  readonly path: string;
}

/** Splits a URL that starts with its path, which may be malformed. */
export function pathAndQuery(url: string): PathAndQuery {
  const mark = url.indexOf("?");
  return mark < 0
    ? { path: url, query: "" }
    : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** No route needs longer ones: templates have at most 1024 characters. */
const MAX_PATH = 4096;
/** Characters that need a closer check: most paths have none. */
const SUSPECT = /[^\x21-\x7e]|[\\#%]|\/\/|\/\.\.?(?:\/|$)/;
const FORBIDDEN = /[^\x21-\x7e]|[\\#]/;

/**
 * Splits a request target, and refuses targets that another program in between may have interpreted
 * differently, also those without a slash at the start: routes are chosen by the exact path, so
 * nothing is normalised here, neither `..` nor `//` nor an escape. Dot segments are refused in every form,
 * even if an encoded slash or backslash hides them. `;` is an ordinary character.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function parseTarget(target: string): RequestTarget {
  const parts = pathAndQuery(target);
  const { path } = parts;
  if (path.charCodeAt(0) !== 47 /* slash */) {
    throw invalidArgument("the request target must be a path that begins with a slash");
  }
  if (path.length > MAX_PATH) {
    throw invalidArgument(`the path is longer than ${MAX_PATH} characters`);
  }
  if (SUSPECT.test(path)) checkPath(path);
  return parts;
}

const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is;

/**
 * The origin form of an HTTP/1 target: `/path` of `http://host/path`, the absolute form, which servers
 * must accept (RFC 9112, section 3.2.2). All other targets are returned as they are.
 *
 * It must name the scheme of the connection and the host of the Host header: cross-site checks read that
 * header, and another program in between may have chosen by either of them.
 *
 * @param host the Host header; undefined without exactly one
 * @throws ServiceError INVALID_ARGUMENT if the two differ
 */
export function originForm(
  target: string,
  method: string,
  scheme: "http" | "https",
  host: string | undefined,
): string {
  if (target.charCodeAt(0) === 47 /* slash */ || method === "CONNECT") return target;
  const [, ownScheme = "", authority = "", rest = ""] = ABSOLUTE.exec(target) ?? [];
  if (ownScheme === "") return target;
  if (ownScheme.toLowerCase() !== scheme) {
    throw invalidArgument(`the scheme of the request target must be ${scheme}`);
  }
  if (authority === "" || authority.toLowerCase() !== host?.toLowerCase()) {
    throw invalidArgument("the host in the request target must be that of the Host header");
  }
  if (rest === "") return method === "OPTIONS" ? "*" : "/";
  return rest.startsWith("?") ? `/${rest}` : rest;
}

function checkPath(path: string): void {
  if (FORBIDDEN.test(path)) {
    throw invalidArgument("the path has a character that is not allowed in a path");
  }
  const segments = path.slice(1).split("/");
  for (const [index, segment] of segments.entries()) {
    if (segment === "" && index < segments.length - 1) {
      throw invalidArgument("the path has an empty segment");
    }
    const text = decodeSegment(segment);
    if (text === undefined) {
      throw invalidArgument("the path has an escape that is malformed or not UTF-8");
    }
    if (text.split(/[/\\]/).some((piece) => piece === "." || piece === "..")) {
      throw invalidArgument("the path has a dot segment");
    }
  }
}

/** The names and values of a query. `URLSearchParams` drops one question mark at the start, and a query may begin with one. */
export function queryParameters(query: string): URLSearchParams {
  return new URLSearchParams(`?${query}`);
}
