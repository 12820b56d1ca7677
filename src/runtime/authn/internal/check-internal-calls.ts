import { IDENTITY_HEADERS } from "../../../api/identity-headers.ts";
import type { ConfigProblem } from "../../../config/check-edge.ts";
import { formatPath } from "../../../config/describe-issue.ts";
import type { SecretReading } from "../../secret/read-secret-file.ts";
import { isSubjectId } from "../identity/identity-text.ts";
import type { TokenFileReader } from "./internal-token.ts";
import {
  type InternalCallConfig,
  SYSTEM_CALLER,
  type TokenSource,
  tokenSources,
} from "./token-sources.ts";

const KEY = "security.authn.internal_call";

/** Headers that have another meaning, that proxies change, or that are logged. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  ...IDENTITY_HEADERS.filter((name) => name !== "x-svc-internal-token"),
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "forwarded",
  "grpc-timeout",
  "host",
  "http2-settings",
  "keep-alive",
  "origin",
  "proxy-authorization",
  "proxy-connection",
  "referer",
  "sec-fetch-site",
  "te",
  "traceparent",
  "tracestate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
  "x-trace-id",
]);

/** The problems of the tokens for calls between services. Messages never contain a token. */
export function* checkInternalCalls(
  config: InternalCallConfig,
  read: TokenFileReader,
): Iterable<ConfigProblem> {
  const { enabled, header, token } = config;
  if (TAKEN_HEADERS.has(header.toLowerCase())) {
    yield problem(
      ["header"],
      `${KEY}.header: ${header} has another meaning; use X-Svc-Internal-Token`,
    );
  }
  yield* checkForms(config);
  const sources = tokenSources(config);
  yield* checkLists(config);
  if (enabled && sources.length === 0 && !isGiven(config)) {
    yield problem(["token"], `${KEY}.token is missing: internal calls are enabled without a token`);
  }
  for (const [index, { service }] of (Array.isArray(token) ? token : []).entries()) {
    const at = ["token", index, "service"];
    if (!isSubjectId(service)) {
      yield problem(at, `${keyOf(at)} must have no white space, # or *, in ASCII`);
    }
    if (service === SYSTEM_CALLER) {
      yield problem(
        at,
        `${keyOf(at)}: ${SYSTEM_CALLER} is reserved for SYSTEM calls; give the service another name`,
      );
    }
  }
  // The files of tokens that are not accepted need not exist.
  yield* checkTokens(enabled ? sources : sources.filter(({ file }) => file === undefined), read);
}

/** Each list by itself: a token in one does not make up for the other. */
function* checkLists(config: InternalCallConfig): Iterable<ConfigProblem> {
  if (!config.enabled) return;
  for (const key of ["token", "system_token"] as const) {
    const list = config[key];
    if (!Array.isArray(list) || !list.every(isEmpty)) continue;
    if (key === "system_token" && config.system_token_file !== undefined) continue;
    yield problem([key], `${KEY}.${key} is missing: all tokens are empty; set one`);
  }
}

/** Whether an entry of a list has no token, and no file of one. */
function isEmpty(entry: string | { readonly token?: string | undefined }): boolean {
  return (typeof entry === "string" ? entry : entry.token) === "";
}

/**
 * The token of services has one place, since its list can contain files. The system token may move
 * from the configuration to a file, and so may be in both for a while.
 */
function* checkForms(config: InternalCallConfig): Iterable<ConfigProblem> {
  for (const key of ["token", "system_token"] as const) {
    if (config[key] === "") yield problem([key], `${KEY}.${key} must not be empty`);
  }
  if (config.token !== undefined && config.token_file !== undefined) {
    yield problem(["token_file"], `${KEY}.token_file must be absent if token is set`);
  }
}

/** Reads the files, and looks for tokens that would identify two callers. */
function* checkTokens(
  sources: readonly TokenSource[],
  read: TokenFileReader,
): Iterable<ConfigProblem> {
  const callers = new Map<string, string>();
  for (const { path, caller, file, token: given } of sources) {
    const { text: token, problem: why }: Partial<SecretReading> =
      file === undefined ? { text: given } : read(file);
    if (why !== undefined) yield problem(path, `${keyOf(path)} (${file}) ${why}`);
    if (token === undefined) continue;
    const other = callers.get(token);
    if (other !== undefined && other !== caller) {
      yield problem(
        path,
        caller === SYSTEM_CALLER
          ? `${keyOf(path)} is an internal token, too; SYSTEM calls need a token of their own`
          : `${keyOf(path)} is that of ${other} too; each service needs its own`,
      );
    }
    callers.set(token, other ?? caller);
  }
}

/** Whether there are tokens, even empty ones. */
function isGiven({ token, system_token: systemToken }: InternalCallConfig): boolean {
  return token !== undefined || systemToken !== undefined;
}

function keyOf(path: readonly (string | number)[]): string {
  return formatPath(["security", "authn", "internal_call", ...path]);
}

function problem(path: readonly (string | number)[], message: string): ConfigProblem {
  return { path: ["security", "authn", "internal_call", ...path], message };
}
