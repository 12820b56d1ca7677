import { attach, type Credentials } from "./credentials.ts";
import type { Field } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";

/** One HTTP request. */
export interface HttpInput {
  readonly method: string;
  readonly fields: readonly Field[];
  /** As it goes over the wire, one character a byte. */
  readonly text: string;
  /** Whether nothing may follow it on its connection: where it ends is open. */
  readonly isUnframed: boolean;
  readonly requestId: string;
}

const TARGETS: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/v1/notices/n"],
  ["GET", "/v1/profile"],
  ["GET", "/v1/documents/open"],
  ["GET", "/v1/documents/open"],
  ["GET", "/v1/documents/closed"],
  ["GET", "/v1/documents"],
  ["PUT", "/v1/documents/open"],
  ["PUT", "/v1/documents/closed"],
  ["GET", "/v1/documents/open:poll"],
  ["GET", "/v1/documents/open:watch?count=2"],
  ["POST", "/v1/documents:reconcile"],
  ["POST", "/v1/documents:reset"],
  ["GET", "/healthz"],
  ["GET", "/v1/nothing"],
];
const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PURGE",
  "get",
  "QUERY",
  "M-SEARCH",
];
const PATH_PIECES = [
  "/",
  "//",
  "/./",
  "/../",
  "%2f",
  "%2F",
  "%2e%2e",
  "..",
  ";",
  "%00",
  "?",
  "#",
  ":",
  "%3A",
  "\\",
  "%5c",
  "%c0%ae",
  "\u00e9",
  "%",
  "%zz",
  "%25",
  "*",
  "open",
  "closed",
  "/open",
  "v1",
  ":poll",
  ":reset",
  "%20",
  "+",
  "@",
  "http://vault",
  "%E2%80%AE",
];
const QUERIES = [
  "document_id=closed",
  "documentId=open",
  "count=1",
  "count=-1",
  "count=1e3",
  "count=1&count=2",
  "count=99999999999",
  "a=b",
  "%=%",
  "=",
  "&&&",
  "x=%ff",
  "notice_id=x",
  "access_token=x",
  "document_id.x=1",
  "__proto__=1",
  "constructor=1",
  "text=x",
];
const BODY_PIECES = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "null",
  "true",
  "1e999",
  "-0",
  "\\u0000",
  "\\ud800",
  '"text":"y"',
  '"document_id":"closed"',
  '"documentId":"open"',
  '"__proto__":{}',
  "\u00ff",
  "\u00c0\u00af",
  "\u00ef\u00bb\u00bf",
  "9".repeat(400),
  "[".repeat(200),
  " ",
  "/**/",
  "NaN",
];
const VALUE_PIECES = [
  ",",
  ", admin",
  ";",
  '"',
  "\t",
  " ",
  "\u00e9",
  "\0",
  "\u001b[31m",
  "x".repeat(300),
  "=",
  "#",
  "*",
  ":",
  "%0d%0a",
  "true",
  "admin",
  "\u00e2\u0080\u00ae",
  "[]",
];
const NAME_PIECES = ["_", ".", "-", "-bin", " ", ":", "x", "S", "\u00e9", "\0", "~", "--"];

/** Fields that have no say in who calls. */
const NOISE: readonly Field[] = [
  ["X-Forwarded-For", "203.0.113.9, 127.0.0.2"],
  ["X-Forwarded-Host", "evil.example"],
  ["X-Forwarded-Proto", "https"],
  ["X-Forwarded-Uri", "/healthz"],
  ["X-Envoy-Original-Path", "/healthz"],
  ["X-Original-Url", "/v1/notices/n"],
  ["X-Http-Method-Override", "GET"],
  ["Origin", "https://evil.example"],
  ["Origin", "null"],
  ["Sec-Fetch-Site", "cross-site"],
  ["Cookie", "session=alice; AccessToken=x"],
  ["Connection", "X-Svc-User-Id"],
  ["Connection", "keep-alive"],
  ["Connection", "close"],
  ["Upgrade", "h2c"],
  ["Upgrade", "websocket"],
  ["Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["Traceparent", "00-zz"],
  ["Accept-Encoding", "gzip"],
  ["TE", "trailers"],
  ["Trailer", "X-Svc-User-Id"],
  ["Host", "evil.example"],
  ["Access-Control-Request-Method", "PUT"],
  ["User-Agent", "x".repeat(500)],
  ["User-Agent", "\u001b]0;x\u0007"],
  ["Range", "bytes=0-0"],
  ["If-None-Match", "*"],
  ["Expect", "100-continue"],
  ["Expect", "nothing"],
  ["Proxy-Authorization", "Bearer x"],
];
const TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "application/JSON",
  "text/plain",
  "application/json, x",
  "",
  ";",
  "application/grpc",
  "application/x-www-form-urlencoded",
];
/** Fields about where the body ends; what follows them on the connection nobody knows. */
const FRAMING: readonly Field[] = [
  ["Transfer-Encoding", "chunked"],
  ["Transfer-Encoding", "gzip, chunked"],
  ["Transfer-Encoding", "identity"],
  ["Transfer-Encoding", "\u000bchunked"],
  ["Content-Length", "0"],
  ["Content-Length", "5"],
  ["Content-Length", "-1"],
  ["Content-Length", "99999999"],
  ["Content-Length", "0x2"],
  ["Content-Length", "2, 2"],
];

/** Makes a request that is mostly one of the service's, with one or a few things wrong. */
export function httpInput(random: Random, credentials: Credentials): HttpInput {
  let [method, path] = random.pick(TARGETS) as [string, string];
  if (random.chance(8)) method = random.pick(METHODS);
  if (random.chance(25)) path = mutateText(random, path, PATH_PIECES);
  if (random.chance(8)) path = mutateText(random, path, PATH_PIECES);
  if (random.chance(12)) path += `${path.includes("?") ? "&" : "?"}${random.pick(QUERIES)}`;

  let carried = attach(random, credentials, path);
  if (random.chance(15)) carried.push(...attach(random, credentials));
  if (random.chance(30)) carried = mutateFields(random, carried);
  const noise = random.chance(35) ? [random.pick(NOISE)] : [];
  if (random.chance(8)) noise.push(random.pick(NOISE));

  const requestId = `f${random.name()}`;
  const fields: Field[] = [["X-Request-Id", requestId], ...carried, ...noise];
  if (!random.chance(2)) fields.unshift(["Host", "vault"]);
  const takesBody = method === "PUT" || method === "POST";
  const body = takesBody || random.chance(5) ? bodyOf(random, path) : "";
  if (body !== "" && !random.chance(3)) {
    fields.push(["Content-Type", random.chance(85) ? "application/json" : random.pick(TYPES)]);
  }
  const isUnframed = random.chance(4);
  if (isUnframed) fields.push(random.pick(FRAMING));
  if (body !== "" && (!isUnframed || random.chance(50))) {
    fields.push(["Content-Length", String(body.length)]);
  }
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  const text = [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
  return { method, fields, text, isUnframed, requestId };
}

function mutateFields(random: Random, fields: readonly Field[]): Field[] {
  if (fields.length === 0) return [];
  const copy = [...fields];
  const at = random.below(copy.length);
  const [name, value] = copy[at] as Field;
  switch (random.below(7)) {
    case 0:
      copy.push([name, value]);
      break;
    case 1:
      copy.push([random.pick([name.toLowerCase(), name.toUpperCase()]), "admin"]);
      break;
    case 2:
      copy[at] = [name.replaceAll("-", random.pick(["_", ".", "--", "-"])), value];
      break;
    case 3:
      copy[at] = [mutateText(random, name, NAME_PIECES), value];
      break;
    case 4:
      copy[at] = [random.pick([name.toLowerCase(), name.toUpperCase()]), ` \t${value}\t `];
      break;
    case 5:
      copy.splice(at, 1);
      break;
    default:
      copy[at] = [name, mutateText(random, value, VALUE_PIECES)];
  }
  return copy;
}

function bodyOf(random: Random, path: string): string {
  const field = path.includes(":re") ? "reason" : "text";
  let body = random.pick(["{}", `{"${field}":"x"}`, `{"${field}":"x"}`, `{"document_id":"open"}`]);
  if (random.chance(30)) body = mutateText(random, body, BODY_PIECES);
  if (random.chance(10)) body = mutateText(random, body, BODY_PIECES);
  return body;
}

const LINE_PIECES = [
  "\r\n",
  "\n",
  "\r",
  "\r\n\r\n",
  "\r\n ",
  "0\r\n\r\n",
  "GET /v1/profile HTTP/1.1\r\nHost: x\r\n\r\n",
  "HTTP/1.1",
  "\0",
  ": ",
  "Transfer-Encoding: chunked\r\n",
  "Content-Length: 5\r\n",
];

/** The same with bytes changed anywhere, also where lines end. Its identity is no header's of the gateway. */
export function looseInput(random: Random, credentials: Credentials): HttpInput {
  const input = httpInput(random, credentials);
  let { text } = input;
  for (let count = 1 + random.below(3); count > 0; count--) {
    text = mutateText(random, text, LINE_PIECES);
  }
  return { ...input, text, isUnframed: true };
}
