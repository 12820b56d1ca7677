/**
 * The HTTP adapter and its chain beside a bare Fastify route that returns the same
 * JSON: a GET with one path variable. `node bench/runtime-http.ts` runs it alone.
 * Each server is a process of its own; both are measured in turn, in rounds.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import { IAMDirectoryService } from "../src/gen/proto/svc/iam/v1/directory_pb.ts";
import { IAMDirectoryServiceRoutes } from "../src/gen/proto/svc/iam/v1/directory_server.ts";
import type { BoundMethod } from "../src/runtime/binding/bound-method.ts";
import { ServerChain } from "../src/runtime/chain/server-chain.ts";
import { createHttpServer } from "../src/runtime/http/index.ts";

/** What the adapter with a chain of trivial stages must reach, of the bare route. */
const TARGET = 0.75;
const ROUNDS = 9;
const ROUND_MS = 2_000;
const WARM_UP_MS = 3_000;
const CONNECTIONS = 32;
const REQUEST = [
  "GET /v1/iam/organizations/acme HTTP/1.1",
  "Host: localhost",
  "Accept: application/json",
  "User-Agent: bench",
  "",
  "",
].join("\r\n");
const CLOSING_BRACE = 125;

const organization = (organizationId: string) => {
  return { organization: { id: organizationId, displayName: "Acme Ltd.", websiteUrl: "" } };
};

/**
 * Prints how many calls a second of processor time serves, and the ratio. Processor
 * time, as a neighbour on the machine takes away from wall time.
 *
 * @returns whether the ratio reaches the target
 */
export async function benchRuntimeHttp(): Promise<boolean> {
  const servers = await Promise.all([serve("bare"), serve("adapter")]);
  try {
    for (const server of servers) await measure(server, WARM_UP_MS);
    const rounds: Rates[][] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, server] of servers.entries()) {
        rounds[index]?.push(await measure(server, ROUND_MS));
      }
    }
    const [bare = 0, adapter = 0] = rounds.map((rates) => median(rates.map(({ cpu }) => cpu)));
    const [bareWall = 0, wall = 0] = rounds.map((rates) => median(rates.map((rate) => rate.wall)));
    const ratio = adapter / bare;
    const verdict = ratio >= TARGET ? "ok" : "TOO SLOW";
    console.log(
      `http: calls per processor second: bare fastify ${bare.toFixed(0)}, adapter and chain ${adapter.toFixed(0)}, ratio ${ratio.toFixed(2)} (at least ${TARGET}) ${verdict}; of wall time ${bareWall.toFixed(0)} and ${wall.toFixed(0)}, ratio ${(wall / bareWall).toFixed(2)}`,
    );
    return ratio >= TARGET;
  } finally {
    for (const { child } of servers) child.kill();
  }
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Calls a second. */
interface Rates {
  readonly cpu: number;
  readonly wall: number;
}

async function measure(server: Server, milliseconds: number): Promise<Rates> {
  const before = await cpuSeconds(server);
  const start = performance.now();
  const responses = await load(server.port, milliseconds);
  const seconds = (performance.now() - start) / 1000;
  return { cpu: responses / ((await cpuSeconds(server)) - before), wall: responses / seconds };
}

async function cpuSeconds({ child }: Server): Promise<number> {
  child.send("cpu");
  const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
  return (usage.user + usage.system) / 1e6;
}

function serve(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(import.meta.url), ["--serve", kind]);
  return new Promise((resolve, reject) => {
    child.once("message", (port) => resolve({ child, port: port as number }));
    child.once("exit", () => reject(new Error(`the server ${kind} has ended`)));
  });
}

/** Sends requests, one after the other on each of some connections; returns how many were answered. */
async function load(port: number, milliseconds: number): Promise<number> {
  let responses = 0;
  let isOver = false;
  const connections = Array.from({ length: CONNECTIONS }, () => {
    return new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
      socket.setNoDelay(true);
      socket.on("data", (chunk) => {
        if (chunk[chunk.length - 1] !== CLOSING_BRACE) return;
        responses++;
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

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

async function serveBare(): Promise<number> {
  const app = Fastify();
  app.get("/v1/iam/organizations/:organizationId", async (request) => {
    const { organizationId } = request.params as { organizationId: string };
    return organization(organizationId).organization;
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as { port: number }).port;
}

async function serveAdapter(): Promise<number> {
  const descriptor = IAMDirectoryService.method.getOrganization;
  const rpc = `${IAMDirectoryService.typeName}/${descriptor.name}`;
  const method: BoundMethod = {
    index: 0,
    rpc,
    kind: descriptor.methodKind,
    descriptor,
    policy: { exposure: "AUTHENTICATED", publish: true },
    isWrite: false,
    routes: IAMDirectoryServiceRoutes.filter((route) => route.rpc === rpc),
    handler: async (request: { organizationId: string }) => organization(request.organizationId),
  };
  const chain = new ServerChain({
    before: [],
    timeoutMs: { unary: 5_000, stream: 60_000 },
    contextInjection() {},
    requestInfo() {},
    metadata() {},
    authentication() {},
    rateLimit() {},
    authorization() {},
    audit: { begin() {}, complete() {}, outlast() {} },
    admission: [],
    after: [],
    observers: [],
  });
  const server = createHttpServer({
    chain,
    methods: [method],
    config: {
      address: "127.0.0.1:0",
      max_body_bytes: 4 * 1024 * 1024,
      cors: { allowed_origins: ["https://app.example.com"], max_age_seconds: 3600 },
    },
  });
  return (await server.listen()).port;
}

if (process.argv[2] === "--serve") {
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.send?.(await (process.argv[3] === "bare" ? serveBare() : serveAdapter()));
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = (await benchRuntimeHttp()) ? 0 : 1;
}
