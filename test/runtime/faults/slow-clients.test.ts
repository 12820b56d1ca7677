/** Deliberately slow clients: each is ended in time, uses little memory, and delays no other call. */
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { untilStill } from "../../support/until.ts";
import { WatchDocumentRequestSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import {
  bindVaultService,
  type VaultServiceHandlers,
} from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { frame, rawCall, rawSession } from "../grpc/support/raw-call.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { ALICE, bytes, SERVICE } from "./support/calls.ts";
import { FLOOD, faultHandlers } from "./support/fault-handlers.ts";
import { Load } from "./support/load.ts";
import { until } from "./support/until.ts";

const SECOND = 1_000_000_000;
const DRIP = 300;
/** Node accepts one connection in each turn of its loop, and a commit of SQLite is a turn: more would only take longer. */
const CLIENTS = 60;

/** Long enough for other calls on a busy machine. */
const TIMEOUT = 6 * SECOND;
const STREAMS = 20;

let vault: RunningVault;
let load: Load;

beforeAll(async () => {
  vault = await open(faultHandlers().handlers, 60 * SECOND);
  load = new Load(vault);
});
afterAll(async () => {
  await load.phase("after slow ones");
  await load.stop();
  await vault.stop();
  // Other calls were not affected.
  load.expectNoWrongAnswer([]);
});

test.concurrent("streams that are not read are paused", async () => {
  const { handlers, seen } = faultHandlers();
  const patient = await open(handlers, 600 * SECOND);
  const clients = leaveUnread(patient);
  await until("all streams have begun", () => seen.streamsBegun === 2 * STREAMS);
  await untilStill("the number of messages", () => seen.messages);
  expect(seen.streamsEnded).toBe(0);
  for (const one of clients) one.destroy();
  await until("the streams have ended with their clients", () => seen.streamsEnded === 2 * STREAMS);
  await patient.stop();
});

test.concurrent("streams that are not read end at their deadline", async () => {
  const { handlers, seen } = faultHandlers();
  const brief = await open(handlers, 3 * SECOND);
  const clients = leaveUnread(brief);
  await until("the calls have ended", () => {
    const ends = brief.lines.filter((line) => line.includes("VaultService/WatchDocument"));
    return ends.filter((line) => line.includes("DEADLINE_EXCEEDED")).length === 2 * STREAMS;
  });
  await until("the streams have ended", () => seen.streamsEnded === seen.streamsBegun);
  for (const one of clients) one.destroy();
  await brief.stop();
});

test.concurrent("unfinished headers and silent connections are cut off", async () => {
  const headers = "GET /v1/notices/n HTTP/1.1\r\nHost: vault\r\n";
  const dripping = Array.from({ length: CLIENTS }, () => drip(vault.http, headers, "X-A: b\r\n"));
  const silent = Array.from({ length: CLIENTS }, () => drip(vault.http, "", ""));
  for (const answer of await Promise.all(dripping)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  for (const answer of await Promise.all(silent)) expect(answer).toMatch(/^$|^HTTP\/1\.1 408 /);
});

test.concurrent("unfinished bodies get a response at the deadline", async () => {
  const request = [
    "PUT /v1/documents/open HTTP/1.1",
    "Host: vault",
    "Content-Type: application/json",
    "Content-Length: 100000",
    ...Object.entries(ALICE).map(([name, value]) => `${name}: ${value}`),
    "\r\n",
  ].join("\r\n");
  const bodies = Array.from({ length: CLIENTS }, () => drip(vault.http, request, " "));
  for (const answer of await Promise.all(bodies)) expect(answer).toMatch(/^HTTP\/1\.1 504 /);
});

test.concurrent("calls whose request never arrives get a response at the deadline", async () => {
  const sessions = [0, 1, 2].map(() => rawSession(vault.grpc));
  const calls = sessions.flatMap((session) =>
    Array.from({ length: 900 }, () => rawCall(session, `${SERVICE}/UpdateDocument`, ALICE, null)),
  );
  for (const { grpcStatus } of await Promise.all(calls)) expect(grpcStatus).toBe(4);
  for (const session of sessions) session.close();
});

/** A vault with a given timeout of streams, and a document that alice may view. */
async function open(handlers: VaultServiceHandlers, streamTimeout: number): Promise<RunningVault> {
  const vault = await startVault({
    bindings: [bindVaultService(handlers)],
    config: {
      server: {
        http: { address: "127.0.0.1:0", timeout_ns: TIMEOUT },
        grpc: { address: "127.0.0.1:0", timeout_ns: TIMEOUT },
        stream_timeout_ns: streamTimeout,
      },
    },
  });
  await shareDocument(vault.engine);
  return vault;
}

/** Begins the same number of streams over HTTP and over gRPC, and reads none of them. */
function leaveUnread({ http, grpc }: RunningVault): { destroy(): void }[] {
  const target = `/v1/documents/open:watch?count=${FLOOD}`;
  const identity = Object.entries(ALICE).map(([name, value]) => `${name}: ${value}\r\n`);
  const sockets = Array.from({ length: STREAMS }, () => {
    const socket = connect(http, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(`GET ${target} HTTP/1.1\r\nHost: vault\r\n${identity.join("")}\r\n`);
    return socket;
  });
  return [...sockets, ...Array.from({ length: STREAMS }, () => unread(grpc))];
}

/** Sends a beginning, then small parts, until the server ends the connection; returns the response. */
function drip(port: number, beginning: string, piece: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1");
    socket.write(beginning);
    const timer = setInterval(() => {
      if (socket.writable && piece !== "") socket.write(piece);
    }, DRIP);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      answer += text;
    });
    socket.on("error", (error) => {
      answer += `${error}`;
    });
    socket.on("close", () => {
      clearInterval(timer);
      resolve(answer);
    });
  });
}

/** A connection with a stream whose messages are not read. */
function unread(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  const stream = session.request({
    ":method": "POST",
    ":path": `${SERVICE}/WatchDocument`,
    "content-type": "application/grpc",
    te: "trailers",
    ...ALICE,
  });
  stream.on("error", () => undefined);
  stream.end(frame(bytes(WatchDocumentRequestSchema, { documentId: "open", count: FLOOD })));
  return session;
}
