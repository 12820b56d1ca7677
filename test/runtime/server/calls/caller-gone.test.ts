/** A caller that hangs up does not change the audited outcome of its call. */
import { once } from "node:events";
import { request } from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import type { AuditEvent } from "../../../../src/runtime/index.ts";
import {
  ConverseRequestSchema,
  UpdateDocumentRequestSchema,
  UploadDocumentRequestSchema,
} from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import {
  INTERNAL_TOKEN,
  type RunningVault,
  shareDocument,
  startVault,
} from "../../support/vault-server.ts";

const SECOND = 1_000_000_000;
const ALICE = { "x-svc-external-sub": "alice" };
const HUB = { "x-svc-internal-token": INTERNAL_TOKEN };
const open: RunningVault[] = [];
afterEach(async () => {
  for (const vault of open.splice(0)) await vault.stop();
});

/** A vault whose audited handlers ignore their signal, and wait until the gate opens. */
async function startGated(shutdownSeconds = 20) {
  let openGate: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const seen = { begun: 0, aborted: 0 };
  const atGate = async (signal: AbortSignal) => {
    signal.addEventListener("abort", () => seen.aborted++);
    seen.begun++;
    await gate;
  };
  const vault = await startVault({
    bindings: [
      bindVaultService({
        ...vaultHandlers(),
        async updateDocument(_, { signal }) {
          await atGate(signal);
          return {};
        },
        async uploadDocument(_, { signal }) {
          await atGate(signal);
          return {};
        },
        async *converse(_, { signal }) {
          yield {};
          await atGate(signal);
        },
      }),
    ],
    config: {
      server: {
        http: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
        grpc: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
        shutdown_timeout_ns: shutdownSeconds * SECOND,
      },
    },
  });
  open.push(vault);
  await shareDocument(vault.engine);
  return { vault, seen, openGate };
}

/** Begins a call; returns a function that hangs up. */
type Caller = (vault: RunningVault) => () => void;

const overHttp: Caller = ({ http: port }) => {
  const outgoing = request({
    port,
    host: "127.0.0.1",
    method: "PUT",
    path: "/v1/documents/open",
    headers: { ...ALICE, "content-type": "application/json" },
  });
  outgoing.on("error", () => undefined);
  outgoing.end("{}");
  return () => outgoing.destroy();
};

function overGrpc(rpc: string, message: Uint8Array, headers: Record<string, string>): Caller {
  return ({ grpc }) => {
    const client = new Client(`127.0.0.1:${grpc}`, credentials.createInsecure());
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const asIs = (data: Buffer) => data;
    const path = `/acme.vault.v1.VaultService/${rpc}`;
    const call = client.makeBidiStreamRequest(path, asIs, asIs, metadata);
    call.on("error", () => undefined).on("data", () => undefined);
    call.end(Buffer.from(message));
    return () => {
      call.cancel();
      client.close();
    };
  };
}

const update = toBinary(
  UpdateDocumentRequestSchema,
  create(UpdateDocumentRequestSchema, { documentId: "open" }),
);
const CALLERS: [string, Caller][] = [
  ["over HTTP", overHttp],
  ["over gRPC", overGrpc("UpdateDocument", update, ALICE)],
  [
    "with a stream of requests",
    overGrpc(
      "UploadDocument",
      toBinary(
        UploadDocumentRequestSchema,
        create(UploadDocumentRequestSchema, { chunk: Uint8Array.of(1) }),
      ),
      HUB,
    ),
  ],
  [
    "with streams both ways",
    overGrpc(
      "Converse",
      toBinary(ConverseRequestSchema, create(ConverseRequestSchema, { text: "a" })),
      ALICE,
    ),
  ],
];

const loggedEvents = ({ lines }: RunningVault): AuditEvent[] =>
  lines
    .map((line) => JSON.parse(line))
    .flatMap(({ audit }) => (audit === undefined ? [] : [audit]));

test.each(CALLERS)(
  "a write that took effect is audited as completed, though its caller hung up %s [AUDIT-2]",
  async (_, caller) => {
    const { vault, seen, openGate } = await startGated();
    const hangUp = caller(vault);
    await expect.poll(() => seen.begun, { message: "the handler begins" }).toBe(1);
    hangUp();
    await expect.poll(() => seen.aborted, { message: "the signal of the call is aborted" }).toBe(1);
    const events = async () => (await vault.server.audit?.list())?.events.map(({ data }) => data);
    expect(await events()).toMatchObject([{ state: "pending" }]);
    openGate();
    await expect
      .poll(async () => (await events())?.[0]?.state, {
        message: "the event has the outcome of the handler",
      })
      .toBe("completed");
    expect(await events()).toMatchObject([{ code: "OK", status: 200, caller_gone: true }]);
  },
);

test.each(CALLERS)(
  "a closing server waits for the handler of a caller that hung up %s",
  async (_, caller) => {
    const { vault, seen, openGate } = await startGated();
    const hangUp = caller(vault);
    await expect.poll(() => seen.begun, { message: "the handler begins" }).toBe(1);
    hangUp();
    await expect.poll(() => seen.aborted, { message: "the signal of the call is aborted" }).toBe(1);
    let hasStopped = false;
    const stopped = vault.server.stop().then(() => {
      hasStopped = true;
    });
    // The connections are closed by then.
    const refused = once(request({ port: vault.http, host: "127.0.0.1" }).end(), "error");
    await refused;
    expect(hasStopped).toBe(false);
    openGate();
    await stopped;
    expect(loggedEvents(vault)).toMatchObject([
      { data: { state: "completed", code: "OK", caller_gone: true } },
    ]);
  },
);

test("a closing server does not wait forever", async () => {
  const { vault, seen } = await startGated(0.2);
  const hangUp = overHttp(vault);
  await expect.poll(() => seen.begun, { message: "the handler begins" }).toBe(1);
  hangUp();
  await expect.poll(() => seen.aborted, { message: "the signal of the call is aborted" }).toBe(1);
  await vault.server.stop();
  expect(loggedEvents(vault)).toEqual([]);
});
