/**
 * Calls through the whole runtime, authenticated, authorized and logged: HTTP beside bare `node:http`,
 * gRPC beside a bare handler of grpc-js, which answer the same, and Connect beside our own HTTP.
 * `node bench/runtime.ts` runs it alone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetDocumentRequestSchema } from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { loadGrpc } from "./grpc-load.ts";
import { loadHttp, wireRequest } from "./http-load.ts";
import { besidePinned, pinned } from "./pinning.ts";
import { GET_RPC, type Ports, SAVE_PATH, SAVE_RPC } from "./runtime-server.ts";
import { atLeast, median, note } from "./verdict.ts";

const ROUNDS = 15;
const ROUND_MS = 1_000;
const WARM_UP_MS = 4_000;
const CALLER = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };

type Load = (ports: Ports, milliseconds: number) => Promise<number>;

/** What is measured: a server, by its name in `runtime-server.ts`, and what it is asked. */
interface Side {
  readonly server: string;
  readonly load: Load;
}

interface BenchServer {
  readonly child: ChildProcess;
  readonly ports: Ports;
}

/** Calls a second: of wall time, and of the server's processor time. */
interface Rates {
  readonly wall: number;
  readonly cpu: number;
  /** How much of a processor the server had. */
  readonly share: number;
}

const get: Load = ({ http = 0 }, milliseconds) =>
  loadHttp(http, wireRequest("GET /v1/documents/open", { ...HTTP, ...CALLER }), milliseconds);

const HTTP = { Host: "localhost", Accept: "application/json", "User-Agent": "bench" };
const JSON_BODY = { ...HTTP, "Content-Type": "application/json", ...CALLER };
const BODY = JSON.stringify({ documentId: "open", text: "a text of some length, to be kept" });

const post: Load = ({ http = 0 }, milliseconds) =>
  loadHttp(http, wireRequest(`POST ${SAVE_PATH}`, JSON_BODY, BODY), milliseconds);

const connect: Load = ({ http = 0 }, milliseconds) => {
  const headers = { ...JSON_BODY, "Connect-Protocol-Version": "1" };
  return loadHttp(http, wireRequest(`POST ${SAVE_RPC}`, headers, BODY), milliseconds);
};

const grpc: Load = ({ grpc: port = 0 }, milliseconds) => {
  const message = toBinary(
    GetDocumentRequestSchema,
    create(GetDocumentRequestSchema, { documentId: "open" }),
  );
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": GET_RPC,
    ":authority": "localhost",
    "content-type": "application/grpc+proto",
    "grpc-timeout": "5S",
    "user-agent": "bench",
    te: "trailers",
    ...CALLER,
  };
  return loadGrpc(port, { headers, messages: [message] }, milliseconds);
};

/** Prints the ratios. */
export async function benchRuntime(): Promise<void> {
  process.stdout.write("\nruntime: calls through the whole chain\n");
  await besidePinned(async () => {
    const own = "runtime";
    await compare(
      "HTTP GET / node:http",
      { server: "node:http", load: get },
      { server: own, load: get },
      0.62,
    );
    await compare(
      "gRPC unary / grpc-js",
      { server: "grpc-js", load: grpc },
      { server: own, load: grpc },
      1,
    );
    await compare(
      "Connect unary JSON / our HTTP",
      { server: own, load: post },
      { server: own, load: connect },
      0.9,
    );
  });
}

async function compare(what: string, peer: Side, own: Side, limit: number): Promise<void> {
  const servers = [await serve(peer.server), await serve(own.server)] as const;
  try {
    const turn = async (milliseconds: number) =>
      [
        await measure(servers[0], peer.load, milliseconds),
        await measure(servers[1], own.load, milliseconds),
      ] as const;
    await turn(WARM_UP_MS);
    const rounds: (readonly [Rates, Rates])[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await turn(ROUND_MS));
    const of = (pick: (pair: readonly [Rates, Rates]) => number) => median(rounds.map(pick));
    atLeast(
      what,
      of(([left, right]) => right.wall / left.wall),
      limit,
    );
    const side = (index: 0 | 1) =>
      `${of((pair) => pair[index].wall).toFixed(0)} a second at ${(100 * of((pair) => pair[index].share)).toFixed(0)} % of a processor`;
    const cost = of(([left, right]) => 1e6 / right.cpu - 1e6 / left.cpu);
    note(`    ${side(1)}; the peer ${side(0)}`);
    note(
      `    of processor time ${of(([left, right]) => right.cpu / left.cpu).toFixed(3)}: ${cost.toFixed(1)} us a call more`,
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
  const busy = (await cpuSeconds(server)) - before;
  return { cpu: calls / busy, wall: calls / seconds, share: busy / seconds };
}

async function cpuSeconds({ child }: BenchServer): Promise<number> {
  child.send("cpu");
  const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
  return (usage.user + usage.system) / 1e6;
}

function serve(kind: string): Promise<BenchServer> {
  const file = fileURLToPath(new URL("runtime-server.ts", import.meta.url));
  const [execPath, execArgv] = pinned(process.execPath, []);
  // Its log is written, and read by nobody.
  const child = fork(file, [kind], {
    execPath,
    execArgv,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((resolve, reject) => {
    child.once("message", (ports) => resolve({ child, ports: ports as Ports }));
    child.once("exit", () => reject(new Error(`the server ${kind} has ended`)));
  });
}

if (import.meta.main) await benchRuntime();
