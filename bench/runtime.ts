/**
 * A call through the whole runtime, authenticated, authorized and logged, beside a bare Fastify
 * route and a bare grpc-js handler that return the same. `node bench/runtime.ts` runs it alone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetDocumentRequestSchema } from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { type Ports, RPC } from "./runtime-server.ts";

const ROUNDS = 9;
const ROUND_MS = 1_500;
const WARM_UP_MS = 4_000;
const CONNECTIONS = 32;
const GRPC_SESSIONS = 4;
const GRPC_CONCURRENCY = 64;
const HTTP_LIMIT = 0.6;
const GRPC_LIMIT = 0.75;
const CLOSING_BRACE = 125;

const REQUEST = [
  "GET /v1/documents/open HTTP/1.1",
  "Host: localhost",
  "Accept: application/json",
  "User-Agent: bench",
  "X-Svc-Auth-Verified: true",
  "X-Svc-User-Id: alice",
  "",
  "",
].join("\r\n");

interface BenchServer {
  readonly child: ChildProcess;
  readonly ports: Ports;
}

/** Calls a second: of wall time, and of the server's processor time. */
interface Rates {
  readonly wall: number;
  readonly cpu: number;
}

type Load = (ports: Ports, milliseconds: number) => Promise<number>;

/** Prints the ratios against both peers. */
export async function benchRuntime(): Promise<void> {
  await compare("HTTP GET", "fastify", loadHttp, HTTP_LIMIT);
  await compare("gRPC unary", "grpc-js", loadGrpc, GRPC_LIMIT);
}

async function compare(what: string, peer: string, load: Load, limit: number): Promise<void> {
  const servers = await Promise.all([serve(peer), serve("runtime")]);
  try {
    for (const server of servers) await measure(server, load, WARM_UP_MS);
    const rounds: [Rates, Rates][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [bare, own] = servers as [BenchServer, BenchServer];
      rounds.push([await measure(bare, load, ROUND_MS), await measure(own, load, ROUND_MS)]);
    }
    const of = (pick: (pair: [Rates, Rates]) => number) => median(rounds.map(pick));
    const ratio = of(([bare, own]) => own.wall / bare.wall);
    const cpu = of(([bare, own]) => own.cpu / bare.cpu);
    const cost = of(([bare, own]) => 1e6 / own.cpu - 1e6 / bare.cpu);
    process.stdout.write(
      `\nruntime: ${what}, whole chain: ${of(([, own]) => own.wall).toFixed(0)} calls a second; bare ${peer}: ${of(([bare]) => bare.wall).toFixed(0)}\n`,
    );
    process.stdout.write(
      `  ${`${what} / bare ${peer}`.padEnd(44)} ${ratio.toFixed(3)}    at least ${limit}  ${ratio >= limit ? "holds" : "DOES NOT HOLD"}\n`,
    );
    process.stdout.write(
      `  of processor time ${cpu.toFixed(3)}; ${cost.toFixed(1)} us of it a call more than the bare one\n`,
    );
  } finally {
    for (const { child } of servers) child.kill();
  }
}

async function measure(server: BenchServer, load: Load, milliseconds: number): Promise<Rates> {
  const before = await cpuSeconds(server);
  const start = performance.now();
  const calls = await load(server.ports, milliseconds);
  const seconds = (performance.now() - start) / 1000;
  return { cpu: calls / ((await cpuSeconds(server)) - before), wall: calls / seconds };
}

async function cpuSeconds({ child }: BenchServer): Promise<number> {
  child.send("cpu");
  const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
  return (usage.user + usage.system) / 1e6;
}

function serve(kind: string): Promise<BenchServer> {
  const file = fileURLToPath(new URL("runtime-server.ts", import.meta.url));
  // Its log is written, and read by nobody.
  const child = fork(file, [kind], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  return new Promise((resolve, reject) => {
    child.once("message", (ports) => resolve({ child, ports: ports as Ports }));
    child.once("exit", () => reject(new Error(`the server ${kind} has ended`)));
  });
}

/** Sends requests one after the other on each of some connections; returns how many were answered. */
async function loadHttp({ http = 0 }: Ports, milliseconds: number): Promise<number> {
  let responses = 0;
  let isOver = false;
  const connections = Array.from({ length: CONNECTIONS }, () => {
    return new Promise<void>((resolve, reject) => {
      const socket = connect(http, "127.0.0.1", () => socket.write(REQUEST));
      socket.setNoDelay(true);
      socket.on("data", (chunk) => {
        if (chunk[chunk.length - 1] !== CLOSING_BRACE) return;
        if (responses++ === 0 && !chunk.includes(" 200 OK")) reject(new Error(String(chunk)));
        if (isOver) socket.end();
        else socket.write(REQUEST);
      });
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });
  });
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  isOver = true;
  await Promise.all(connections);
  return responses;
}

async function loadGrpc({ grpc = 0 }: Ports, milliseconds: number): Promise<number> {
  const message = toBinary(
    GetDocumentRequestSchema,
    create(GetDocumentRequestSchema, { documentId: "open" }),
  );
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const sessions = Array.from({ length: GRPC_SESSIONS }, () =>
    connectHttp2(`http://127.0.0.1:${grpc}`),
  );
  const end = performance.now() + milliseconds;
  let calls = 0;
  const worker = async (session: ClientHttp2Session): Promise<void> => {
    while (performance.now() < end) {
      await callOnce(session, frame);
      calls++;
    }
  };
  await Promise.all(
    Array.from({ length: GRPC_CONCURRENCY }, (_, index) =>
      worker(sessions[index % GRPC_SESSIONS] as ClientHttp2Session),
    ),
  );
  for (const session of sessions) session.destroy();
  return calls;
}

function callOnce(session: ClientHttp2Session, frame: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": RPC,
      "content-type": "application/grpc+proto",
      "grpc-timeout": "5S",
      "user-agent": "bench",
      "x-svc-auth-verified": "true",
      "x-svc-user-id": "alice",
      te: "trailers",
    });
    let status = "";
    stream.on("trailers", (trailers) => {
      status = String(trailers["grpc-status"]);
    });
    stream.on("error", reject);
    stream.on("close", () => (status === "0" ? resolve() : reject(new Error(`status ${status}`))));
    stream.resume();
    stream.end(frame);
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) await benchRuntime();
