/** SIGTERM and SIGINT under load: running calls complete within the limit, new ones are refused, and the others are reported. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, type ServiceError as GrpcError, Metadata } from "@grpc/grpc-js";
import { afterAll, expect, test } from "vitest";
import { createLogger, createServer } from "../../../src/runtime/index.ts";
import { WatchDocumentRequestSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { vaultConfiguration } from "../support/vault-server.ts";
import { expectAudited, storedEvents } from "./support/audited.ts";
import { ALICE, bytes, grpcCaller, httpCaller, noticeOf, SERVICE } from "./support/calls.ts";
import { type ChildVault, startChildVault } from "./support/child.ts";
import { Load } from "./support/load.ts";
import { until } from "./support/until.ts";

const SECOND = 1_000_000_000;
/** Messages are sent every 10 milliseconds. */
const MESSAGES = 100;

const folder = mkdtempSync(join(tmpdir(), "svc-access-shutdown-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("running calls and streams complete, new ones are refused, and no audit event is lost [OBS-5]", async () => {
  const vault = await startChildVault(optionsOf("finish", 20));
  const load = new Load(vault);
  await load.phase("serving");
  const slow = [httpCaller(vault.http), grpcCaller(vault.grpc)];
  const calls = slow.map(({ call }) => call(noticeOf("sleep-1000"), "slow"));
  const streams = [watchHttp(vault, MESSAGES), watchGrpc(vault, MESSAGES)];
  await until("the streams have begun", () => streams.every(({ lines }) => lines.length > 3));
  vault.process.kill("SIGTERM");
  expect(await Promise.all(calls)).toEqual([200, 200]);
  for (const { lines, ended } of streams) {
    expect(await ended).toBe("whole");
    expect(lines).toHaveLength(MESSAGES);
  }
  expect(await vault.ended).toBe(0);
  await load.stop();
  for (const { close } of slow) close();
  load.expectPhase("serving");
  load.expectNoWrongAnswer([0]);
  await expectStored("finish", load);
});

test("calls that exceed the limit are cancelled, and the process ends with 0", async () => {
  const vault = await startChildVault(optionsOf("cut", 0.5));
  const load = new Load(vault);
  await load.phase("serving");
  const slow = [httpCaller(vault.http), grpcCaller(vault.grpc)];
  const calls = slow.map(({ call }) => call(noticeOf("sleep-60000"), "slow"));
  const streams = [watchHttp(vault, 100_000), watchGrpc(vault, 100_000)];
  await until("the streams have begun", () => streams.every(({ lines }) => lines.length > 3));
  vault.process.kill("SIGINT");
  expect(await Promise.all(calls)).toEqual([503, 503]);
  for (const { ended } of streams) expect(await ended).toBe("UNAVAILABLE");
  expect(await vault.ended).toBe(0);
  await load.stop();
  for (const { close } of slow) close();
  load.expectNoWrongAnswer([0, 503]);
  await expectStored("cut", load);
});

test.each([
  ["SIGTERM", "SIGTERM"],
  ["SIGINT", "SIGINT"],
  ["SIGINT", "SIGTERM"],
] as const)("%s, then %s end the process at once", async (first, second) => {
  const vault = await startChildVault(optionsOf(`twice-${first}-${second}`, 60));
  const { call, close } = httpCaller(vault.http);
  const answer = call(noticeOf("sleep-60000"), "slow");
  await until("the call is under way", async () => {
    return (await vault.ask<{ sleeping: number }>("state")).sleeping === 1;
  });
  vault.process.kill(first);
  await until("it takes no new connections", async () => {
    return (await httpCaller(vault.http).call(noticeOf("n"), "new")) === 0;
  });
  vault.process.kill(second);
  expect(await vault.ended).toBe(1);
  expect(await answer).toBe(0);
  close();
});

function optionsOf(name: string, shutdownSeconds: number) {
  const server = {
    http: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
    grpc: { address: "127.0.0.1:0", timeout_ns: 100 * SECOND },
    shutdown_timeout_ns: shutdownSeconds * SECOND,
  };
  const database = { driver: "sqlite", file: join(folder, `${name}.db`) };
  return { folder, config: { server, database } };
}

/** The stored data of the process that has ended. */
async function expectStored(name: string, load: Load): Promise<void> {
  const server = await createServer({
    configuration: vaultConfiguration(folder, {}, optionsOf(name, 1).config),
    bindings: [bindVaultService(vaultHandlers())],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  const events = await storedEvents(server);
  expectAudited(load, events);
  // It ended by itself, so nothing is left open.
  const states = [...events.values()].flat().map(({ data }) => data.state);
  expect(new Set(states)).toEqual(new Set(["completed"]));
  await server.stop();
}

type Outcome = "whole" | "cut off" | "UNAVAILABLE";

/** The messages of a stream, and its end. */
interface Watched {
  readonly lines: unknown[];
  readonly ended: Promise<Outcome>;
}

function watchHttp({ http }: ChildVault, count: number): Watched {
  const lines: string[] = [];
  const ended = new Promise<Outcome>((resolve) => {
    const path = `/v1/documents/open:watch?count=${count}`;
    const outgoing = request({ port: http, host: "127.0.0.1", path, headers: ALICE, agent: false });
    outgoing.on("error", () => resolve("cut off"));
    outgoing.on("response", (response) => {
      response.setEncoding("utf8");
      response.on("data", (text: string) => lines.push(...text.trim().split("\n")));
      response.on("error", () => resolve("cut off"));
      response.on("end", () => {
        if (!response.complete) return resolve("cut off");
        resolve(lines.at(-1)?.includes('"code":"UNAVAILABLE"') ? "UNAVAILABLE" : "whole");
      });
    });
    outgoing.end();
  });
  return { lines, ended };
}

function watchGrpc({ grpc }: ChildVault, count: number): Watched {
  const lines: unknown[] = [];
  const client = new Client(`127.0.0.1:${grpc}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(ALICE)) metadata.set(name, value);
  const stream = client.makeServerStreamRequest(
    `${SERVICE}/WatchDocument`,
    (data: Uint8Array) => Buffer.from(data),
    (data: Buffer) => data,
    bytes(WatchDocumentRequestSchema, { documentId: "open", count }),
    metadata,
  );
  stream.on("data", (data) => lines.push(data));
  const ended = new Promise<Outcome>((resolve) => {
    stream.on("error", ({ details }: GrpcError) => {
      resolve(details === "the server is shutting down" ? "UNAVAILABLE" : "cut off");
    });
    stream.on("end", () => resolve("whole"));
  }).finally(() => client.close());
  return { lines, ended };
}
