/**
 * `CheckPermission` of svc-iam over gRPC, at a million relationships, beside a bare handler of grpc-js
 * that answers the same; and an authorized GET of the hub whose engine is svc-iam, beside the hub with
 * an engine of its own. `node bench/iam/check.ts` runs it alone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { CheckPermissionRequestSchema } from "../../services/iam/gen/svc/iam/v1/permission_pb.ts";
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import { readModelFile } from "../../src/model/index.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { loadGrpc } from "../grpc-load.ts";
import { loadHttp, wireRequest } from "../http-load.ts";
import { besidePinned } from "../pinning.ts";
import { HUB_SECRETS, type StartedService, startService } from "../service-start.ts";
import { atMost, median, note } from "../verdict.ts";
import { type BenchIam, HUB_TOKEN, MODEL, startIam } from "./iam-service.ts";
import { startPeer } from "./peer-process.ts";
import { compareRates, type Side } from "./rounds.ts";

/** The RPC, as a path. */
export const CHECK_RPC = "/svc.iam.v1.IAMPermissionService/CheckPermission";

const RELATIONSHIPS = 1_000_000;
const USERS = 100_000;
const GROUPS = 10_000;
const PROJECTS = 200_000;
const ORGANIZATIONS = 2_000;

const ROUNDS = 21;
const ROUND_MS = 1_000;
const WARM_UP_MS = 4_000;
const LATENCY_ROUNDS = 21;
const LATENCY_CALLS = 500;
const WARM_UP_CALLS = 2_000;
const RATE_LIMIT = 0.9;
const P50_LIMIT = 1.1;

const HUB_MAIN = join(import.meta.dirname, "../../examples/hub/src/hub/main.ts");
const ALICE = { "x-svc-external-sub": "alice", "x-svc-external-owner": "acme" };

/** A user who holds the permission by a group that owns the organization of the project. */
const MESSAGE = toBinary(
  CheckPermissionRequestSchema,
  create(CheckPermissionRequestSchema, {
    subject: { type: "user", id: "u7" },
    resource: { type: "project", id: "p7" },
    permission: "read",
  }),
);

/** Prints the ratios. */
export async function benchIamCheck(): Promise<void> {
  process.stdout.write("\niam-check: CheckPermission over gRPC, at a million relationships\n");
  await besidePinned(async () => {
    const iam = await startIam(0, fill);
    try {
      await compareChecks(iam);
      await compareHubs(iam);
    } finally {
      await iam.stop();
    }
  });
}

async function compareChecks(iam: BenchIam): Promise<void> {
  const peer = await startPeer("grpc-js", CHECK_RPC);
  const port = Number(peer.hello);
  try {
    const load = (port: number, milliseconds = ROUND_MS) =>
      loadGrpc(port, { headers: HEADERS, message: MESSAGE }, milliseconds);
    await load(iam.grpcPort, WARM_UP_MS);
    await load(port, WARM_UP_MS);
    await compareRates("CheckPermission / grpc-js", {
      own: { pid: iam.pid, work: () => load(iam.grpcPort) },
      peer: { pid: peer.child.pid, work: () => load(port) },
      rounds: ROUNDS,
      limit: RATE_LIMIT,
    });
    await compareLatencies(iam.grpcPort, port);
  } finally {
    peer.child.kill();
  }
}

const HEADERS = {
  ":method": "POST",
  ":scheme": "http",
  ":path": CHECK_RPC,
  ":authority": "localhost",
  "content-type": "application/grpc+proto",
  "grpc-timeout": "5S",
  "user-agent": "bench",
  te: "trailers",
  "x-svc-internal-token": HUB_TOKEN,
};

/** One call at a time, in turn, so that a load from elsewhere falls on both. */
async function compareLatencies(own: number, peer: number): Promise<void> {
  const [ours, theirs] = [new Caller(own), new Caller(peer)];
  for (let call = 0; call < WARM_UP_CALLS; call++) {
    await ours.time();
    await theirs.time();
  }
  const rounds: { readonly own: number; readonly peer: number }[] = [];
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    const times = { own: [] as number[], peer: [] as number[] };
    for (let call = 0; call < LATENCY_CALLS; call++) {
      times.own.push(await ours.time());
      times.peer.push(await theirs.time());
    }
    rounds.push({ own: median(times.own), peer: median(times.peer) });
  }
  ours.close();
  theirs.close();
  const ratio = median(rounds.map(({ own, peer }) => own / peer));
  atMost("p50 of CheckPermission / of a grpc-js call", ratio, P50_LIMIT);
  const microseconds = (pick: (round: (typeof rounds)[number]) => number) =>
    (1000 * median(rounds.map(pick))).toFixed(0);
  note(`  ${microseconds(({ own }) => own)} us, the peer ${microseconds(({ peer }) => peer)} us`);
}

class Caller {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    this.#metadata.set("x-svc-internal-token", HUB_TOKEN);
  }

  /** How long a call takes, in milliseconds. */
  async time(): Promise<number> {
    const start = performance.now();
    await this.#call();
    return performance.now() - start;
  }

  #call(): Promise<void> {
    const asIs = (bytes: Buffer) => bytes;
    return new Promise((resolve, reject) => {
      const message = Buffer.from(MESSAGE);
      this.#client.makeUnaryRequest(CHECK_RPC, asIs, asIs, message, this.#metadata, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** The cost of asking another process, which has no limit of its own. */
async function compareHubs(iam: BenchIam): Promise<void> {
  const asking = {
    AUTHZ_PROVIDER: "iam",
    IAM_ADDRESS: `127.0.0.1:${iam.grpcPort}`,
    IAM_TOKEN: HUB_TOKEN,
  };
  const hubs = await Promise.all([startHub(asking), startHub({ AUTHZ_PROVIDER: "embedded" })]);
  try {
    const [own, peer] = await Promise.all(hubs.map(sideOf));
    if (own === undefined || peer === undefined) return;
    await compareRates("GET of the hub, engine iam / embedded", { own, peer, rounds: ROUNDS });
  } finally {
    await Promise.all(hubs.map((hub) => hub.stop()));
  }
}

async function startHub(env: Readonly<Record<string, string>>): Promise<StartedService> {
  const data = mkdtempSync(join(tmpdir(), "svc-access-bench-hub-"));
  const service = await startService({
    args: [HUB_MAIN],
    env: { ...HUB_SECRETS, DATA: data, ...env },
  });
  const stop = async () => {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  };
  return { ...service, stop };
}

/** Reads a project again and again, which is authorized each time. */
async function sideOf({ port, pid }: StartedService): Promise<Side> {
  const headers = { ...ALICE, "content-type": "application/json" };
  const body = JSON.stringify({ organizationId: "acme", displayName: "Measured" });
  const url = `http://127.0.0.1:${port}/v1/projects`;
  const created = await fetch(url, { method: "POST", headers, body });
  const text = await created.text();
  if (created.status !== 200) throw new Error(`a project was not created: ${text}`);
  const { projectId } = JSON.parse(text).project ?? JSON.parse(text);
  const request = wireRequest(`GET /v1/projects/${projectId}`, {
    Host: "localhost",
    "User-Agent": "bench",
    ...ALICE,
  });
  const work = (milliseconds = ROUND_MS) => loadHttp(port, request, milliseconds);
  await work(WARM_UP_MS);
  return { pid, work: () => work() };
}

/** A million relationships of a platform: projects of organizations, which groups of people own. */
async function fill(file: string): Promise<void> {
  const { model } = readModelFile(MODEL);
  if (model === undefined) throw new Error("the model is not valid");
  const store = await openSqliteStore({ file });
  const engine = await createEmbeddedEngine({ model, store });
  let batch: Relationship[] = [];
  const write = async () => {
    const updates = batch.map((relationship) => ({ operation: "TOUCH" as const, relationship }));
    batch = [];
    await engine.writeRelationships({ updates });
  };
  for (const relationship of relationships()) {
    batch.push(relationship);
    if (batch.length === 1000) await write();
  }
  await engine.close();
}

function* relationships(): Generator<Relationship> {
  const member = { relation: "member" };
  for (let index = 0; index < ORGANIZATIONS; index++) {
    yield relate("organization", `o${index}`, "zone", "zone", "acme");
    yield relate("organization", `o${index}`, "owner", "group", `g${index}`, member);
  }
  for (let index = 0; index < PROJECTS; index++) {
    yield relate("project", `p${index}`, "parent", "organization", `o${index % ORGANIZATIONS}`);
    yield relate("project", `p${index}`, "developer", "user", `u${(index * 7) % USERS}`);
    yield relate("project", `p${index}`, "viewer", "group", `g${index % GROUPS}`, member);
  }
  const left = RELATIONSHIPS - 2 * ORGANIZATIONS - 3 * PROJECTS;
  for (let index = 0; index < left; index++) {
    const group = `g${(index + Math.floor(index / GROUPS)) % GROUPS}`;
    yield relate("group", group, "member", "user", `u${index % USERS}`);
  }
}

function relate(
  type: string,
  id: string,
  relation: string,
  subjectType: string,
  subjectId: string,
  set: { readonly relation?: string } = {},
): Relationship {
  const subject = { type: subjectType, id: subjectId, ...set };
  return { resource: { type, id }, relation, subject };
}

if (import.meta.main) await benchIamCheck();
