import { type DescMessage, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import type { AuditEvent, AuditLog, CallContext } from "../../../src/runtime/index.ts";
import { targetOf } from "../access-table/call.ts";
import {
  bindVaultService,
  type VaultServiceHandlers,
} from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { type Mode, startWorld, type World } from "../hostile/support/world.ts";
import { SYSTEM_TOKEN } from "../support/vault-server.ts";
import { WIRES } from "../support/wire/protocols.ts";
import { sendRequest } from "../support/wire/send-request.ts";
import { requestOf } from "../support/wire/wire-request.ts";
import { type Behaviour, methodOf, type RpcName } from "./cases.ts";

/** The arguments of a handler call. */
export interface Handled {
  readonly rpc: string;
  readonly principal: unknown;
  readonly requests: readonly JsonValue[];
}

/** A vault whose handlers follow the instructions for a call, by its request id. */
export interface ScriptedVault {
  readonly world: World;
  readonly behaviours: Map<string, Behaviour>;
  readonly handled: Map<string, Handled[]>;
  /** The audit events of calls, by request id, once all are stored. */
  events(requestIds: readonly string[]): Promise<Map<string, AuditEvent[]>>;
}

export async function startScriptedVault(mode: Mode, issuer: string): Promise<ScriptedVault> {
  const behaviours = new Map<string, Behaviour>();
  const handled = new Map<string, Handled[]>();
  const note = (context: CallContext, requests: readonly Message[]): Behaviour => {
    const { rpc, principal, requestId } = context;
    const name = rpc.slice(rpc.indexOf("/") + 1) as RpcName;
    const { input } = methodOf(name);
    const all = handled.get(requestId) ?? [];
    all.push({
      rpc: name,
      principal,
      requests: requests.map((one) => toJson(input as DescMessage, one)),
    });
    handled.set(requestId, all);
    return behaviours.get(requestId) ?? { error: undefined, isLate: false };
  };
  const bindings = [bindVaultService(handlersOf(note))];
  const world = await startWorld({ mode, issuer, bindings });
  const log = world.vault.server.audit as AuditLog;
  let barriers = 0;
  return {
    world,
    behaviours,
    handled,
    async events(requestIds) {
      // Events are stored in order: once a later one is stored, so are these.
      const last = `barrier-${barriers++}`;
      await reset(world.port("http", "stranger"), last);
      const isStored = async () =>
        (await log.list({ requestId: last, state: "completed" })).events.length;
      while ((await isStored()) === 0) await new Promise((resolve) => setImmediate(resolve));
      const events = new Map<string, AuditEvent[]>();
      for (const requestId of requestIds) {
        events.set(requestId, [...(await log.list({ requestId })).events]);
      }
      return events;
    },
  };
}

async function reset(port: number, requestId: string): Promise<void> {
  const request = requestOf(WIRES.http, targetOf("SYSTEM"));
  const fields = [
    ...request.fields,
    ["X-Svc-Internal-Token", SYSTEM_TOKEN] as const,
    ["X-Request-Id", requestId] as const,
  ];
  await sendRequest(port, WIRES.http, { ...request, fields });
}

type Note = (context: CallContext, requests: readonly Message[]) => Behaviour;

function handlersOf(note: Note): VaultServiceHandlers {
  const answer = ({ principal }: CallContext, echo = "") => {
    const { subjectId = "", subjectType = "", source = "" } = principal ?? {};
    return { subjectId, subjectType, source, echo };
  };
  const collected = async (requests: AsyncIterable<Message>) => {
    const all: Message[] = [];
    for await (const one of requests) all.push(one);
    return all;
  };
  const unary = async (request: Message, context: CallContext) => {
    const { error } = note(context, [request]);
    if (error !== undefined) throw error;
    return answer(
      context,
      JSON.stringify(request, (key, value) => (key === "$typeName" ? undefined : value)),
    );
  };
  async function* many(context: CallContext, requests: readonly Message[], count: number) {
    const { error, isLate } = note(context, requests);
    if (error !== undefined && !isLate) throw error;
    for (let index = 0; index < count; index++) yield answer(context, String(index));
    if (error !== undefined) throw error;
  }
  return {
    getNotice: unary,
    getProfile: unary,
    getDocument: unary,
    listDocuments: unary,
    updateDocument: unary,
    pollDocument: unary,
    unlockDocument: unary,
    searchDocuments: unary,
    inspectDocuments: unary,
    dumpDocuments: unary,
    reconcile: unary,
    reset: unary,
    watchDocument: (request, context) => many(context, [request], request.count),
    async uploadDocument(requests, context) {
      const all = await collected(requests);
      const { error } = note(context, all);
      if (error !== undefined) throw error;
      return answer(context, String(all.length));
    },
    async *converse(requests, context) {
      const all = await collected(requests);
      yield* many(context, all, all.length);
    },
  };
}
