import { fromBinary, fromJsonString, type JsonValue, toJson } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import type { AuditEvent } from "../../../src/runtime/index.ts";
import { ServiceError } from "../../../src/runtime/index.ts";
import { AnswerSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import type { Field } from "../hostile/support/raw-http.ts";
import type { TokenSource } from "../hostile/support/tokens.ts";
import { errorForm } from "../support/wire/error-forms.ts";
import { WIRES, type Wire, type WireName } from "../support/wire/protocols.ts";
import { readResponse, type WireAnswer } from "../support/wire/read-response.ts";
import { sendRequest } from "../support/wire/send-request.ts";
import { requestOf, type WireCall } from "../support/wire/wire-request.ts";
import { type Case, wireCallOf, wiresOf } from "./cases.ts";
import { CREDENTIALS, type Credential } from "./credentials.ts";
import type { Handled, ScriptedVault } from "./scripted-vault.ts";

/** The outcome of a call, without the values that differ between protocols: caller id, time and protocol. */
export interface Observed {
  /** `served`, or the code of the error. */
  readonly reported: string;
  readonly message: string | undefined;
  readonly answers: readonly JsonValue[];
  readonly handled: readonly Handled[];
  readonly audited: readonly object[];
}

/** The names in all protocols; each reads its own. */
const GARBLED: readonly Field[] = [
  ["Connect-Timeout-Ms", "soon"],
  ["Grpc-Timeout", "soon"],
];

let calls = 0;

/** Makes a call over every protocol that can carry it, with a separate caller for each. */
export async function observeAll(
  vault: ScriptedVault,
  tokens: TokenSource,
  one: Case,
): Promise<Record<string, Observed>> {
  const names = wiresOf(one);
  const ids = new Map(names.map((name) => [name, `c${calls++}z`]));
  await allow(vault, one, [...ids.values()]);
  const call = wireCallOf(one);
  const answers = new Map<WireName, WireAnswer>();
  await Promise.all(
    [...ids].map(async ([name, id]) => {
      vault.behaviours.set(id, one.behaviour);
      answers.set(name, await callBy(vault, tokens, one, call, name, id));
    }),
  );
  const events = await vault.events([...ids.values()]);
  const observed = [...ids].map(([name, id]): [string, Observed] => {
    const wire: Wire = WIRES[name];
    const answer = answers.get(name) as WireAnswer;
    expectForm(wire, call, one, answer);
    const whole: Observed = {
      reported: answer.reason ?? "served",
      // Each names its own header.
      message: answer.message?.replace(/^(connect-timeout-ms|grpc-timeout) must .*$/, "<deadline>"),
      answers: answer.answers.map((bytes) => decoded(wire, bytes)),
      handled: vault.handled.get(id) ?? [],
      audited: (events.get(id) ?? []).flatMap((event) => factsOf(event, wire, one)),
    };
    vault.behaviours.delete(id);
    vault.handled.delete(id);
    return [name, JSON.parse(JSON.stringify(whole).replaceAll(id, "<caller>")) as Observed];
  });
  return Object.fromEntries(observed);
}

async function allow({ world }: ScriptedVault, { isAllowed }: Case, ids: readonly string[]) {
  if (!isAllowed) return;
  const resource = { type: "document", id: "open" };
  const updates = ids.flatMap((id) =>
    ["viewer", "editor"].map((relation) => {
      const subject = { type: "user", id };
      return { operation: "TOUCH" as const, relationship: { resource, relation, subject } };
    }),
  );
  await world.vault.engine.writeRelationships({ updates });
}

async function callBy(
  { world }: ScriptedVault,
  tokens: TokenSource,
  one: Case,
  call: WireCall,
  name: WireName,
  id: string,
): Promise<WireAnswer> {
  const wire: Wire = WIRES[name];
  const { from, fields }: Credential = CREDENTIALS[one.credential];
  const request = requestOf(wire, call);
  const number = Number(id.slice(1, -1));
  // Refusals of unidentified callers are counted by address.
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  const all: Field[] = [
    ...request.fields,
    ["X-Request-Id", id],
    ["X-Forwarded-For", address],
    ...(one.isGarbled ? GARBLED : []),
    ...fields(id, tokens),
  ];
  const port = world.port(wire.port, from);
  const response = await sendRequest(port, wire, { ...request, fields: all });
  if (response === undefined) throw new Error(`${name} has no response`);
  return readResponse(wire, call, response);
}

/** Expects that an error has the form of its protocol. */
function expectForm(wire: Wire, call: WireCall, one: Case, answer: WireAnswer): void {
  const { code, httpStatus, reason, answers } = answer;
  expect(code).toBeDefined();
  if (reason === undefined) return expect(httpStatus).toBe(200);
  // After messages, a route can report an error only in the last line.
  if (wire.form === "route" && answers.length > 0) return expect(httpStatus).toBe(200);
  const { error } = one.behaviour;
  const statuses =
    error instanceof ServiceError && error.code === reason
      ? { http: error.status, grpc: error.grpcStatus }
      : ERROR_CODES[reason as ErrorCode];
  const form = errorForm(wire, call.isStreaming, statuses);
  expect({ code, httpStatus }).toEqual(form);
}

function decoded({ codec }: Wire, bytes: Buffer): JsonValue {
  const message =
    codec === "json"
      ? fromJsonString(AnswerSchema, bytes.toString())
      : fromBinary(AnswerSchema, bytes);
  return toJson(AnswerSchema, message);
}

const TRANSPORTS = {
  route: "http",
  grpc: "grpc",
  connect: "connect",
  connect_get: "connect",
  grpc_web: "grpc_web",
  grpc_web_text: "grpc_web",
} as const;

/** The content of an event, without time, protocol and source. */
function factsOf({ type, source, subject, data }: AuditEvent, { form }: Wire, one: Case): object[] {
  expect(data.transport).toBe(TRANSPORTS[form]);
  const {
    request_id: _id,
    trace_id: _trace,
    duration_ms: _duration,
    client_address: _address,
    peer_address: _peer,
    transport: _transport,
    ...facts
  } = data;
  // Refusals of unidentified callers, all from one address, are counted together.
  if (data.principal === undefined && CREDENTIALS[one.credential].from === "stranger") return [];
  return [{ type, source, subject, ...facts }];
}
