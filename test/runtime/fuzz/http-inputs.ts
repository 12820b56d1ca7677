import { attach, type Credentials } from "./credentials.ts";
import {
  BODY_PIECES,
  FRAMING,
  LINE_PIECES,
  METHODS,
  NAME_PIECES,
  NOISE,
  PATH_PIECES,
  QUERIES,
  TARGETS,
  TYPES,
  VALUE_PIECES,
} from "./http-dictionary.ts";
import type { Field } from "./oracle.ts";
import { mutateText, type Random } from "./random.ts";

/** One HTTP request. */
export interface HttpInput {
  readonly method: string;
  readonly fields: readonly Field[];
  /** The bytes on the wire, as one character each. */
  readonly text: string;
  /** Whether nothing may follow it on its connection, since its end is ambiguous. */
  readonly isUnframed: boolean;
  readonly requestId: string;
}

/** Makes a request of the service with usually one or a few errors. */
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

/** The same with bytes changed anywhere, including line ends. It has no identity headers of the gateway. */
export function looseInput(random: Random, credentials: Credentials): HttpInput {
  const input = httpInput(random, credentials);
  let { text } = input;
  for (let count = 1 + random.below(3); count > 0; count--) {
    text = mutateText(random, text, LINE_PIECES);
  }
  return { ...input, text, isUnframed: true };
}
