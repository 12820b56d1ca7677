import { expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { connectCode, errorForm } from "../../support/wire/error-forms.ts";
import { WIRES, type Wire, type WireName } from "../../support/wire/protocols.ts";
import { readResponse } from "../../support/wire/read-response.ts";
import { sendRequest } from "../../support/wire/send-request.ts";
import { requestOf, type WireCall } from "../../support/wire/wire-request.ts";
import type { Field } from "./raw-http.ts";
import type { World } from "./world.ts";

/** The gRPC statuses of a wrong number of messages (12), and of compression without an encoding (13). */
const SPECIAL: readonly number[] = [12, 13];

/** Differences from the call of a client. */
export interface Change {
  readonly method?: string;
  readonly path?: string;
  /** Fields that replace the protocol's own headers of these names, and are added to the others. */
  readonly fields?: readonly Field[];
  readonly body?: Buffer;
  readonly from?: "trusted" | "stranger";
}

/** The default caller, whose unchanged call every protocol serves. */
export const BY_ALICE: readonly Field[] = [["X-Svc-External-Sub", "alice"]];

/**
 * Makes a call with an error. Returns `served`, our code of an error in the form of the protocol
 * (with the gRPC status if that differs), or the HTTP status if no protocol accepted it; and
 * checks whether a handler ran.
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

/** The outcome of the same fields beside those of alice, in some protocols. */
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

/** Expects the same outcome in each. */
export function every(names: readonly WireName[], answer: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, answer]));
}

/** The same fields beside those of alice. */
export function withAlice(...fields: readonly Field[]): Field[] {
  return [...BY_ALICE, ...fields];
}
