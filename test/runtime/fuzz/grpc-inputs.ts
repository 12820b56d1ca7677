import type { OutgoingHttpHeaders } from "node:http2";
import { attach, type Credentials } from "./credentials.ts";
import type { Field } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";
import {
  ENCODINGS,
  NAME_PIECES,
  NOISE,
  OTHER_PATHS,
  PATH_PIECES,
  RPCS,
  SERVICE,
  TIMEOUTS,
  TYPES,
  VALUE_PIECES,
} from "./rpc-dictionary.ts";
import { framed, messageOf } from "./rpc-messages.ts";

/** One gRPC call. */
export interface GrpcInput {
  readonly headers: OutgoingHttpHeaders;
  readonly fields: readonly Field[];
  /** The parts of the body that are sent, in order. */
  readonly pieces: readonly Buffer[];
  /** Whether the client cancels the call midway. */
  readonly isTakenBack: boolean;
  readonly requestId: string;
}

/** Makes a call of the service with usually one or a few errors. */
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
  for (let index = 0; index < count; index++)
    pieces.push(framed(random, messageOf(random, rpc), encoding));
  const isTakenBack = random.chance(4);
  return { headers, fields, pieces, isTakenBack, requestId };
}

/** Several values of a name as a list, which Node's client requires. */
function joined(fields: readonly Field[]): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of fields) (headers[name.toLowerCase()] ??= []).push(value);
  return headers;
}

/** Changes a field: doubles it, spells its name differently, or changes its value. */
export function mutateFields(random: Random, fields: readonly Field[]): Field[] {
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
