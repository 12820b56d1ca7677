import { IDENTITY_HEADERS } from "../../api/identity-headers.ts";
import type { ConfigProblem } from "../../config/config-problem.ts";
import type { SecurityConfig } from "../configuration/security-config.ts";
import { isSubjectId } from "./subject-id.ts";
import { SYSTEM_CALLER } from "./system-caller.ts";

type InternalCallConfig = SecurityConfig["authn"]["internal_call"];

const KEY = "security.authn.internal_call";

/** Headers that mean something else, that proxies change, or that are logged. */
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
  "keep-alive",
  "origin",
  "proxy-authorization",
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

/** What is wrong with the tokens of calls between services. Messages never hold a token. */
export function* checkInternalCalls(config: InternalCallConfig): Iterable<ConfigProblem> {
  const { enabled, header, token, system_token: systemToken } = config;
  if (TAKEN_HEADERS.has(header.toLowerCase())) {
    yield problem(
      ["header"],
      `${KEY}.header: ${header} means something else; take X-Svc-Internal-Token`,
    );
  }
  if (enabled && token === undefined && systemToken === undefined) {
    yield problem(["token"], `${KEY}.token is missing: internal calls are enabled without a token`);
  }
  const services = new Map<string, string>();
  if (typeof token === "string") {
    if (token === "") yield problem(["token"], `${KEY}.token must not be empty`);
    services.set(token, "");
  }
  for (const [index, one] of (Array.isArray(token) ? token : []).entries()) {
    const key = `${KEY}.token[${index}]`;
    const at = ["token", index];
    if (!isSubjectId(one.service)) {
      yield problem(
        [...at, "service"],
        `${key}.service must have no white space, # or *, in ASCII`,
      );
    }
    if (one.service === SYSTEM_CALLER) {
      yield problem(
        [...at, "service"],
        `${key}.service: ${SYSTEM_CALLER} is who makes SYSTEM calls; give the service another name`,
      );
    }
    if (one.token === "") yield problem([...at, "token"], `${key}.token must not be empty`);
    const other = services.get(one.token);
    if (other !== undefined && other !== one.service) {
      yield problem(
        [...at, "token"],
        `${key}.token is that of ${other} as well; each service needs its own`,
      );
    }
    services.set(one.token, other ?? one.service);
  }
  if (systemToken === "") yield problem(["system_token"], `${KEY}.system_token must not be empty`);
  if (systemToken !== undefined && services.has(systemToken)) {
    yield problem(
      ["system_token"],
      `${KEY}.system_token is an internal token, too; SYSTEM calls need a token of their own`,
    );
  }
}

function problem(path: readonly (string | number)[], message: string): ConfigProblem {
  return { path: ["security", "authn", "internal_call", ...path], message };
}
