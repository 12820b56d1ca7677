import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { connectCode, errorForm } from "../../support/wire/error-forms.ts";
import { WIRES, type Wire, type WireName } from "../../support/wire/protocols.ts";
import { readResponse } from "../../support/wire/read-response.ts";
import { sendRequest } from "../../support/wire/send-request.ts";
import { requestOf, type WireCall } from "../../support/wire/wire-request.ts";
import type { Field } from "./raw-http.ts";
import type { World } from "./world.ts";

/** What gRPC has for a wrong number of messages (12), and for compression without a word (13). */
const SPECIAL: readonly number[] = [12, 13];

/** What is unlike the call that a client would make. */
export interface Change {
  readonly method?: string;
  readonly path?: string;
  /** Instead of the headers of the protocol itself that have these names, and beside all others. */
  readonly fields?: readonly Field[];
  readonly body?: Buffer;
  readonly from?: "trusted" | "stranger";
}

/** Who calls, where nothing else is said: a call that is served by every protocol as it stands. */
export const BY_ALICE: readonly Field[] = [["X-Svc-External-Sub", "alice"]];

/**
 * Makes a call with something wrong. Says `served`, our code of an error in the form of the
 * protocol (with the number of gRPC where that is a special one), or the status of what no protocol
 * has taken; and looks whether a handler ran.
 */
export async function callWith(
  world: World,
  name: WireName,
  target: WireCall,
  { method, path, fields = BY_ALICE, body, from = "trusted" }: Change,
): Promise<string> {
  const wire: Wire = WIRES[name];
  const usual = requestOf(wire, target);
  const replaced = new Set(fields.map(([one]) => one.toLowerCase()));
  const kept = usual.fields.filter(([one]) => !replaced.has(one.toLowerCase()));
  const before = world.handled.length;
  const response = await sendRequest(world.port(wire.port, from), wire, {
    method: method ?? usual.method,
    path: path ?? usual.path,
    fields: [...kept, ...fields],
    body: body ?? usual.body,
  });
  const handled = world.handled.length - before;
  if (response === undefined) {
    expect(handled).toBe(0);
    return "no response";
  }
  const { code, reason, httpStatus } = readResponse(wire, target, response);
  if (code !== undefined && reason === undefined) {
    expect(handled).toBe(1);
    return "served";
  }
  expect(handled).toBe(0);
  if (code === undefined) return String(httpStatus);
  const form = errorForm(wire, target.isStreaming, ERROR_CODES[reason as ErrorCode]);
  const special = SPECIAL.find((grpc) => code === String(grpc) || code === connectCode(grpc));
  if (code !== form.code && special !== undefined) return `${reason} (${special})`;
  expect({ code, httpStatus }).toEqual(form);
  return reason as string;
}

/** What each of some protocols makes of the same fields beside those of alice. */
export async function reported(
  world: World,
  names: readonly WireName[],
  target: WireCall,
  fields: readonly Field[],
): Promise<Record<string, string>> {
  const answers: [string, string][] = [];
  for (const name of names) {
    answers.push([name, await callWith(world, name, target, { fields: withAlice(...fields) })]);
  }
  return Object.fromEntries(answers);
}

/** The same answer of each. */
export function every(names: readonly WireName[], answer: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, answer]));
}

/** The same fields beside those of alice. */
export function withAlice(...fields: readonly Field[]): Field[] {
  return [...BY_ALICE, ...fields];
}
