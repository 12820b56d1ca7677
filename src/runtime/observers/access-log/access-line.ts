import type { BoundMethod } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import { single } from "../../call/call-headers.ts";
import type { UnroutedRequest } from "../../chain/call-stages.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { cleanLine, redactText } from "../../logging/redaction/redact-text.ts";

const MAX_AGENT = 160;
const MAX_PATH = 512;
const MAX_NAME = 256;
/** The texts of a kind whose harmless form is remembered. */
const MAX_REMEMBERED = 500;

/** The path of a target: what comes before the query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/**
 * The members of the line of a call, as JSON without braces; what the caller sent is
 * cleaned and shortened. They are written by hand, since a line goes out for each call,
 * and what was made or checked here (ids, methods, addresses) is taken as it is.
 */
export function callLine(call: Call, error: ServiceError | undefined, durationMs: number): string {
  const { principal, transport } = call;
  let line = rpcMembers(call.method);
  if (transport === "http") {
    const status = call.sentStatus ?? error?.status ?? call.responseStatus;
    line += `"transport":"http","method":"${call.httpMethod}","path":${quotedPath(call.target)},"status":${status}`;
  } else {
    line += `"transport":"${transport}","grpc_status":${error?.grpcStatus ?? 0}`;
  }
  line += error === undefined ? ',"code":"OK"' : `,"code":${quoted(error.code, MAX_NAME)}`;
  line += `,"duration_ms":${millisecondsText(durationMs)},"request_id":"${call.requestId}"`;
  if (call.traceId !== "") line += `,"trace_id":"${call.traceId}"`;
  if (call.spanId !== "") line += `,"span_id":"${call.spanId}"`;
  if (principal !== undefined) {
    const subject = `${principal.subjectType}:${principal.subjectId}`;
    line += `,"subject":${quoted(subject, MAX_NAME)},"source":"${principal.source}"`;
  }
  line += clientAddress(call.clientAddress === "" ? call.peer.address : call.clientAddress);
  const agent = single(call.headers, "user-agent");
  if (agent !== undefined) line += userAgent(agent);
  line += `,"response_bytes":${call.responseBytes}`;
  if (call.resource !== undefined) line += resource(call.resource);
  if (call.decision !== undefined) line += `,"decision":"${call.decision}"`;
  return line;
}

/** The members of the line of a request that never was a call. */
export function requestLine(request: UnroutedRequest): string {
  const { transport, httpMethod, target, status, code = "OK", requestId, peer } = request;
  const members = [
    `"transport":"${transport}"`,
    `"method":${quoted(httpMethod, MAX_NAME)}`,
    `"path":${quotedPath(target)}`,
    `"status":${status}`,
    `"code":${quoted(code, MAX_NAME)}`,
    `"request_id":${quoted(requestId, MAX_NAME)}`,
    `"client_address":${quoted(peer.address, MAX_NAME)}`,
  ];
  return members.join(",");
}

const rpcs = new WeakMap<BoundMethod, string>();

function rpcMembers(method: BoundMethod): string {
  let members = rpcs.get(method);
  if (members === undefined) {
    members = `"rpc":${quoted(method.rpc, 2 * MAX_NAME)},`;
    rpcs.set(method, members);
  }
  return members;
}

const quotedPath = remembered(
  (target) => quoted(redactText(pathOf(target).slice(0, MAX_PATH + 1)), MAX_PATH),
  MAX_REMEMBERED,
);
const clientAddress = remembered(
  (address) => `,"client_address":${quoted(address, MAX_NAME)}`,
  MAX_REMEMBERED,
);
const resource = remembered(
  (text) => `,"resource":${quoted(redactText(text), 2 * MAX_NAME)}`,
  MAX_REMEMBERED,
);
const userAgent = remembered(
  (agent) => `,"user_agent":${quoted(redactText(agent.slice(0, MAX_AGENT + 1)), MAX_AGENT)}`,
  MAX_REMEMBERED,
);

/** The text of each thousandth, after the point. */
const THOUSANDTHS = Array.from({ length: 1000 }, (_, index) => String(index / 1000).slice(1));

/**
 * A number of milliseconds as JSON, with a resolution of microseconds, which is sufficient. It is put
 * together, since the text of a fraction takes JavaScript several times as long as that of an integer.
 */
function millisecondsText(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  const rest = microseconds % 1000;
  return `${(microseconds - rest) / 1000}${THOUSANDTHS[rest]}`;
}

/** Printable ASCII that JSON takes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON, on one line and without characters that a viewer would interpret. */
export function quoted(text: string, maxLength: number): string {
  return text.length <= maxLength && PLAIN.test(text)
    ? `"${text}"`
    : JSON.stringify(cleanLine(text, maxLength));
}

/** Longer texts hardly repeat. */
const MAX_REMEMBERED_LENGTH = 256;

/** Caches results for repeated texts, such as user agents, up to a limit. */
export function remembered(
  work: (text: string) => string,
  maxTexts: number,
): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > MAX_REMEMBERED_LENGTH) return work(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = work(text);
    // A client that sends a new one with each request only causes this work.
    if (known.size >= maxTexts) known.clear();
    known.set(text, result);
    return result;
  };
}
