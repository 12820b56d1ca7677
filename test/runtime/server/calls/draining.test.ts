/** How a closing server ends its running calls, over both transports. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError as GrpcError, Metadata } from "@grpc/grpc-js";
import { afterEach, expect, test, vi } from "vitest";
import { ServiceError } from "../../../../src/runtime/index.ts";
import {
  ConverseRequestSchema,
  UploadDocumentRequestSchema,
  WatchDocumentRequestSchema,
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
const SHUT_DOWN = "UNAVAILABLE: the server is shutting down";
const open: RunningVault[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const vault of open.splice(0)) await vault.stop();
});

/** A vault whose handlers wait: watches forever, and the notice `gate` for the test. */
async function startWaiting(shutdownSeconds: number, refusesUploads = false, delaySeconds = 0) {
  const begun = new Set<string>();
  /** The reasons of the handlers' signals. */
  const heard: string[] = [];
  let openGate: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const usual = vaultHandlers();
  const vault = await startVault({
    bindings: [
      bindVaultService({
        ...usual,
        async getNotice(request, context) {
          begun.add(request.noticeId);
          if (request.noticeId === "gate") await gate;
          if (request.noticeId === "never") await new Promise(() => undefined);
          return usual.getNotice(request, context);
        },
        async *watchDocument({ count }, { signal }) {
          yield { echo: "begun" };
          await new Promise((resolve) => {
            if (count === 0) return;
            signal.addEventListener("abort", resolve);
          });
          heard.push((signal.reason as { code: string }).code);
        },
        async uploadDocument(requests, context) {
          begun.add("upload");
          if (!refusesUploads) return usual.uploadDocument(requests, context);
          for await (const _ of requests) {
            // In the meantime the rest arrives.
            await sleep(200);
            throw new ServiceError("FAILED_PRECONDITION", "no more");
          }
          return {};
        },
      }),
    ],
    config: {
      server: {
        http: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
        grpc: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
        shutdown_timeout_ns: shutdownSeconds * SECOND,
        shutdown_delay_ns: delaySeconds * SECOND,
      },
    },
  });
  open.push(vault);
  await shareDocument(vault.engine);
  return { vault, begun, heard, openGate };
}

/** A running call. */
interface Underway {
  /** Whether the test knows that the handler has started. */
  readonly begun: Promise<unknown>;
  /** `OK`, or the code and the message. */
  readonly ended: Promise<string>;
}

function overGrpc(port: number, rpc: string, first: Uint8Array, headers = ALICE as object) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const asIs = (data: Buffer) => data;
  const path = `/acme.vault.v1.VaultService/${rpc}`;
  const call = client.makeBidiStreamRequest(path, asIs, asIs, metadata);
  call.write(Buffer.from(first));
  if (rpc === "WatchDocument") call.end();
  const begun = once(call, "data").catch(() => undefined);
  const ended = new Promise<string>((resolve) => {
    call.on("error", (error: GrpcError) => {
      const name = error.code === 14 ? "UNAVAILABLE" : String(error.code);
      resolve(`${name}: ${error.details}`);
    });
    call.on("end", () => resolve("OK"));
  }).finally(() => client.close());
  return { begun, ended };
}

function watchOverHttp(port: number, count: number): Underway {
  const path = `/v1/documents/open:watch?count=${count}`;
  const outgoing = request({ port, host: "127.0.0.1", path, headers: ALICE, agent: false }).end();
  const response = once(outgoing, "response").then(([incoming]) => incoming as IncomingMessage);
  const begun = response.then((incoming) => once(incoming, "data"));
  const ended = response.then(async (incoming) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    await once(incoming, "end");
    const { error } = JSON.parse(text.trim().split("\n").at(-1) ?? "");
    return error === undefined ? "OK" : `${error.code}: ${error.message}`;
  });
  return { begun, ended };
}

function noticeOverHttp(port: number, id: string, agent: Agent | false = false) {
  const outgoing = request({ port, host: "127.0.0.1", path: `/v1/notices/${id}`, agent }).end();
  return once(outgoing, "response").then(([incoming]) => incoming as IncomingMessage);
}

test.each([
  ["that are old are ended at once", 2100],
  ["that do not end are ended after half of the time", 0],
])("streams %s, and the client learns it; a call under way is finished", async (_, age) => {
  if (age > 0) vi.useFakeTimers({ toFake: ["performance"] });
  const { vault, begun, heard, openGate } = await startWaiting(4);
  const streams: Underway[] = [0, 1].flatMap((count) => [
    watchOverHttp(vault.http, count),
    overGrpc(
      vault.grpc,
      "WatchDocument",
      toBinary(
        WatchDocumentRequestSchema,
        create(WatchDocumentRequestSchema, { documentId: "open", count }),
      ),
    ),
  ]);
  const text = toBinary(ConverseRequestSchema, create(ConverseRequestSchema, { text: "hello" }));
  streams.push(overGrpc(vault.grpc, "Converse", text));
  await Promise.all(streams.map((stream) => stream.begun));
  const chunk = create(UploadDocumentRequestSchema, { chunk: Uint8Array.of(1) });
  const bytes = toBinary(UploadDocumentRequestSchema, chunk);
  streams.push(overGrpc(vault.grpc, "UploadDocument", bytes, HUB));
  await expect.poll(() => begun.has("upload"), { message: "the upload begins" }).toBe(true);
  if (age > 0) vi.advanceTimersByTime(age);
  const notice = noticeOverHttp(vault.http, "gate");
  await expect.poll(() => begun.size, { message: "both streams begin" }).toBe(2);
  const stopped = vault.server.stop();
  expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(
    streams.map(() => SHUT_DOWN),
  );
  // If the streams were not ended before, this call would be cut off.
  openGate();
  const answer = await notice;
  expect(answer.statusCode).toBe(200);
  expect(answer.headers.connection).toBe("close");
  answer.resume();
  await stopped;
  expect(heard).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
  const lines = vault.lines.map((line) => JSON.parse(line));
  const codes = lines.filter(({ rpc }) => rpc !== undefined).map(({ code }) => code);
  expect(codes.filter((code) => code === "UNAVAILABLE")).toHaveLength(streams.length);
  expect(lines.some(({ message }) => /still under way/.test(message))).toBe(false);
});

test("a young stream continues when an old one is ended", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { vault } = await startWaiting(4);
  const old = watchOverHttp(vault.http, 0);
  await old.begun;
  vi.advanceTimersByTime(2100);
  const young = watchOverHttp(vault.http, 0);
  await young.begun;
  const began = Date.now();
  const stopped = vault.server.stop();
  expect(await old.ended).toBe(SHUT_DOWN);
  expect(await young.ended).toBe(SHUT_DOWN);
  // Half of the time of the shutdown.
  expect(Date.now() - began).toBeGreaterThan(1900);
  await stopped;
});

test("a call that does not end in time gets the error of the shutdown, and its connection is closed", async () => {
  const { vault, begun } = await startWaiting(0.3);
  const notice = noticeOverHttp(vault.http, "never");
  await expect.poll(() => begun.size, { message: "the call begins" }).toBe(1);
  const stopped = vault.server.stop();
  const answer = await notice;
  expect(answer.statusCode).toBe(503);
  expect(answer.headers.connection).toBe("close");
  const body = await answer.setEncoding("utf8").toArray();
  expect(JSON.parse(body.join(""))).toMatchObject({
    code: "UNAVAILABLE",
    message: "the server is shutting down",
  });
  await stopped;
  const said = vault.lines.find((line) => line.includes("still under way"));
  expect(JSON.parse(said ?? "{}")).toMatchObject({ level: "warn", limit_ms: 300, calls: 1 });
});

test("during the delay it is not ready, and new connections are served", async () => {
  const { vault, openGate } = await startWaiting(120, false, 60);
  const stopped = vault.server.stop();
  const ready = await fetch(`http://127.0.0.1:${vault.http}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: "not_ready", reasons: ["draining"] },
  ]);
  openGate();
  const agent = new Agent({ keepAlive: true });
  const answer = await noticeOverHttp(vault.http, "gate", agent);
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, "keep-alive"]);
  answer.resume();
  agent.destroy();
  const text = toBinary(ConverseRequestSchema, create(ConverseRequestSchema, { text: "hello" }));
  const stream = overGrpc(vault.grpc, "Converse", text);
  await stream.begun;
  expect(vault.server.stop({ withoutDelay: true })).toBe(stopped);
  await stopped;
  expect(await stream.ended).toBe(SHUT_DOWN);
  await expect(fetch(`http://127.0.0.1:${vault.http}/readyz`)).rejects.toThrow();
});

test("an idle connection is closed", async () => {
  const { vault } = await startWaiting(60);
  const agent = new Agent({ keepAlive: true });
  const answer = await noticeOverHttp(vault.http, "n", agent);
  expect(answer.headers.connection).toBe("keep-alive");
  const closed = once(answer.socket, "close");
  answer.resume();
  await once(answer, "end");
  await vault.server.stop();
  await closed;
  agent.destroy();
});

test("no stream begins on a draining connection, while its calls are still answered", async () => {
  const { vault, begun, openGate } = await startWaiting(60);
  const socket = connect(vault.http, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  const ask = (path: string) =>
    socket.write(`GET ${path} HTTP/1.1\r\nhost: vault\r\nx-svc-external-sub: alice\r\n\r\n`);
  ask("/v1/notices/gate");
  await expect.poll(() => begun.size, { message: "the call begins" }).toBe(1);
  const stopped = vault.server.stop();
  ask("/v1/documents/open:watch?count=0");
  const refused = () => vault.lines.find((line) => line.includes("WatchDocument"));
  await expect
    .poll(refused, { message: "the new stream is refused" })
    .toContain('"code":"UNAVAILABLE"');
  openGate();
  await stopped;
});

test("the unread rest of a refused upload does not keep the connection open", async () => {
  const { vault } = await startWaiting(60, true);
  const client = new Client(`127.0.0.1:${vault.grpc}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("x-svc-internal-token", INTERNAL_TOKEN);
  const asIs = (data: Buffer) => data;
  const path = "/acme.vault.v1.VaultService/UploadDocument";
  const chunk = create(UploadDocumentRequestSchema, { chunk: new Uint8Array(100) });
  const message = Buffer.from(toBinary(UploadDocumentRequestSchema, chunk));
  const refused = new Promise((resolve) => {
    const call = client.makeClientStreamRequest(path, asIs, asIs, metadata, (error) => {
      resolve(error?.details);
    });
    for (let count = 0; count < 3; count++) call.write(message);
    call.end();
  });
  expect(await refused).toBe("no more");
  await vault.server.stop();
  // Otherwise the server would wait for the connection, which the client keeps open.
  client.close();
});
