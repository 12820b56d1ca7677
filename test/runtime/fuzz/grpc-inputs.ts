import type { OutgoingHttpHeaders } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import { attach, type Credentials } from "./credentials.ts";
import type { Field } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";

/** One gRPC call. */
export interface GrpcInput {
  readonly headers: OutgoingHttpHeaders;
  readonly fields: readonly Field[];
  /** What is sent of the body, piece by piece. */
  readonly pieces: readonly Buffer[];
  /** Whether the client takes the call back midway. */
  readonly isTakenBack: boolean;
  readonly requestId: string;
}

const SERVICE = "/acme.vault.v1.VaultService";
const RPCS = [
  "GetNotice",
  "GetProfile",
  "GetDocument",
  "GetDocument",
  "ListDocuments",
  "UpdateDocument",
  "PollDocument",
  "Reconcile",
  "Reset",
  "WatchDocument",
  "UploadDocument",
  "Converse",
];
const OTHER_PATHS = [
  "/grpc.health.v1.Health/Check",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/v1/profile",
  "/",
  "*",
  `${SERVICE}/`,
  `${SERVICE}/Nothing`,
  "/__proto__/constructor",
];
const PATH_PIECES = [
  "/",
  "//",
  "%2f",
  "..",
  "?x=1",
  ";",
  "#",
  ".",
  "acme",
  "GetProfile",
  " ",
  "\u00e9",
];
const NAME_PIECES = ["_", ".", "-", "-bin", "x", "--", "~"];
const VALUE_PIECES = [
  ",",
  ", admin",
  ";",
  '"',
  " ",
  "\u00e9",
  "=",
  "#",
  "*",
  ":",
  "true",
  "admin",
  "x".repeat(300),
  "\u00e2\u0080\u00ae",
];
const TIMEOUTS = [
  "1S",
  "5S",
  "1H",
  "99999999H",
  "100m",
  "1u",
  "0n",
  "0S",
  "",
  "1",
  "S",
  "-1S",
  "1.5S",
  "999999999S",
  "1x",
  "infinite",
];
const ENCODINGS = ["identity", "gzip", "deflate", "br", "GZIP", "gzip,identity", "", "x"];
const TYPES = [
  "application/grpc+proto",
  "application/grpc;x=1",
  "application/grpc+json",
  "application/json",
  "application/grpc-web",
  "APPLICATION/GRPC",
  "",
];
const NOISE: readonly Field[] = [
  ["te", "trailers"],
  ["grpc-accept-encoding", "gzip,deflate"],
  ["grpc-accept-encoding", "br,x"],
  ["user-agent", "grpc-fuzz/1\u00e9"],
  ["x-forwarded-for", "203.0.113.9"],
  ["x-svc-user-id-bin", "YWxpY2U="],
  ["x-any-bin", "////,!!!"],
  ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["grpc-previous-rpc-attempts", "9"],
  ["content-length", "5"],
  ["cookie", "session=alice"],
  ["grpc-status", "0"],
  ["host", "evil"],
];

/** Makes a call that is mostly one of the service's, with one or a few things wrong. */
export function grpcInput(random: Random, credentials: Credentials): GrpcInput {
  const rpc = random.pick(RPCS);
  let path = `${SERVICE}/${rpc}`;
  if (random.chance(4)) path = random.pick(OTHER_PATHS);
  if (random.chance(5)) path = mutateText(random, path, PATH_PIECES).replaceAll("\0", "") || "/";
  let carried = attach(random, credentials, rpc);
  if (random.chance(15)) carried.push(...attach(random, credentials));
  if (random.chance(25)) carried = mutateFields(random, carried);
  const requestId = `g${random.name()}`;
  const fields: Field[] = [["x-request-id", requestId], ...carried];
  if (random.chance(25)) fields.push(random.pick(NOISE));
  if (random.chance(15)) fields.push(["grpc-timeout", random.pick(TIMEOUTS)]);
  if (random.chance(3)) fields.push(["grpc-timeout", random.pick(TIMEOUTS)]);
  const encoding = random.chance(15) ? random.pick(ENCODINGS) : undefined;
  if (encoding !== undefined) fields.push(["grpc-encoding", encoding]);
  const type = random.chance(4) ? random.pick(TYPES) : "application/grpc";
  const headers: OutgoingHttpHeaders = {
    ":method": random.chance(2) ? random.pick(["GET", "PUT", "OPTIONS", "post"]) : "POST",
    ":path": path,
    "content-type": type,
    ...joined(fields),
  };
  const streams = rpc === "UploadDocument" || rpc === "Converse";
  const pieces: Buffer[] = [];
  const count = streams ? random.below(5) : random.chance(3) ? random.below(3) : 1;
  for (let index = 0; index < count; index++) pieces.push(framed(random, rpc, encoding));
  const isTakenBack = random.chance(4);
  return { headers, fields, pieces, isTakenBack, requestId };
}

/** Several values of a name as a list, as Node's client wants them. */
function joined(fields: readonly Field[]): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  return headers;
}

function mutateFields(random: Random, fields: readonly Field[]): Field[] {
  const copy = [...fields];
  if (copy.length === 0) return copy;
  const at = random.below(copy.length);
  const [name, value] = copy[at] as Field;
  switch (random.below(5)) {
    case 0:
      copy.push([name, random.chance(50) ? value : "admin"]);
      break;
    case 1:
      copy[at] = [name.replaceAll("-", random.pick(["_", "."])), value];
      break;
    case 2:
      copy[at] = [mutateText(random, name, NAME_PIECES), value];
      break;
    case 3:
      copy[at] = [`${name}-bin`, Buffer.from(value, "latin1").toString("base64")];
      break;
    default:
      copy[at] = [name, mutateText(random, value, VALUE_PIECES)];
  }
  return copy;
}

/** A message with its prefix: of the RPC, changed, compressed or not, of a wrong length or not. */
function framed(random: Random, rpc: string, encoding: string | undefined): Buffer {
  let message = messageOf(random, rpc);
  if (random.chance(20)) message = changed(random, message);
  let flag = 0;
  if (encoding === "gzip" || encoding === "deflate" ? random.chance(70) : random.chance(2)) {
    flag = 1;
    if (random.chance(3)) message = Buffer.alloc(8 * 1024 * 1024);
    message = random.chance(8)
      ? message
      : encoding === "deflate"
        ? deflateSync(message)
        : gzipSync(message);
  }
  if (random.chance(2)) flag = random.below(256);
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  const length = random.chance(3)
    ? random.pick([0, 1, message.length + 1, 2 ** 22 + 1, 2 ** 32 - 1])
    : message.length;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

function messageOf(random: Random, rpc: string): Buffer {
  const text = (field: number, value: string) =>
    Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value, "latin1")]);
  const id = random.chance(75)
    ? "open"
    : random.pick(["closed", "", "*", "open#viewer", "\xff", "document:open", " open", "Open"]);
  switch (rpc) {
    case "GetProfile":
    case "ListDocuments":
      return Buffer.alloc(0);
    case "WatchDocument":
      return Buffer.concat([text(1, id), Buffer.from([0x10, random.below(4)])]);
    case "UpdateDocument":
      return random.chance(20)
        ? Buffer.concat([text(1, "open"), text(2, "x"), text(1, id)])
        : Buffer.concat([text(1, id), text(2, "x")]);
    case "GetNotice":
    case "Reconcile":
    case "Reset":
    case "UploadDocument":
    case "Converse":
      return text(1, "n");
    default:
      return text(1, id);
  }
}

function changed(random: Random, message: Buffer): Buffer {
  const copy = Buffer.concat([message, Buffer.alloc(random.below(4))]);
  for (let count = 1 + random.below(3); count > 0 && copy.length > 0; count--) {
    copy[random.below(copy.length)] = random.below(256);
  }
  return copy.subarray(0, random.below(copy.length + 1));
}
