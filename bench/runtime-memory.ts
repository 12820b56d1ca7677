/**
 * The memory of a service over minutes of load: `node bench/runtime-memory.ts`, for
 * `SVC_ACCESS_MEMORY_MINUTES` (10). The service is a process of its own; its load is all that
 * keeps something: tokens, callers of limited RPCs, audit events, streams, calls that are given
 * up. Its caches are filled first. Printed are its heap after a collection and its resident memory, and the heap
 * at the end beside that of the second minute.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JWTPayload } from "jose";
import {
  createGrpcClient,
  createLogger,
  createServer,
  type ServerAddresses,
} from "../src/runtime/index.ts";
import { VaultService } from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../test/runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { AUDIENCE, startTokenIssuer } from "../test/runtime/support/token-issuer.ts";
import { vaultHandlers } from "../test/runtime/support/vault-handlers.ts";
import {
  INTERNAL_TOKEN,
  shareDocument,
  vaultConfiguration,
} from "../test/runtime/support/vault-server.ts";

const MINUTES = Number(process.env["SVC_ACCESS_MEMORY_MINUTES"] ?? 10);
/** How much larger the heap may be in the end. */
const LIMIT = 1.1;
const SAMPLE_MS = 30_000;
const MIB = 1024 * 1024;
/** Different tokens and callers. The cache of tokens holds fewer. */
const CALLERS = 20_000;
/** How many calls at once fill the caches. */
const WARM_UP_WIDTH = 32;
const PAUSE_MS = 1;

interface Sample {
  readonly heap: number;
  readonly rss: number;
}

/** Prints samples and the growth; true if it stays within the limit. */
export async function benchRuntimeMemory(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-memory-"));
  const issuer = await startTokenIssuer();
  const script = fileURLToPath(import.meta.url);
  const service = fork(script, ["--serve", folder, issuer.url], { execArgv: ["--expose-gc"] });
  const [addresses] = (await once(service, "message")) as [ServerAddresses];
  await fillCaches(addresses["http"]?.port ?? 0, issuer.token);
  const load = startLoad(addresses, issuer.token);
  const begin = performance.now();
  let base: Sample | undefined;
  let last: Sample = { heap: 0, rss: 0 };
  try {
    while (performance.now() - begin < MINUTES * 60_000) {
      await sleep(SAMPLE_MS);
      last = await sampleOf(service);
      const minutes = (performance.now() - begin) / 60_000;
      // Of a run that is shorter, the middle.
      if (minutes >= Math.min(2, MINUTES / 2)) base ??= last;
      console.log(
        `memory: ${minutes.toFixed(1)} min, ${load.calls()} calls, heap ${inMib(last.heap)}, resident ${inMib(last.rss)} MiB`,
      );
    }
    await load.stop();
    const ratio = last.heap / (base ?? last).heap;
    const resident = last.rss / (base ?? last).rss;
    const isFlat = ratio <= LIMIT;
    console.log(
      `memory: heap x ${ratio.toFixed(3)} (at most ${LIMIT}) ${isFlat ? "ok" : "IT GROWS"}; resident x ${resident.toFixed(3)}`,
    );
    return isFlat;
  } finally {
    service.kill();
    await once(service, "exit");
    await issuer.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

async function sampleOf(service: ChildProcess): Promise<Sample> {
  service.send("sample");
  const [sample] = (await once(service, "message")) as [Sample];
  return sample;
}

const callerOf = (number: number) => `caller-${number % CALLERS}`;

/** Each caller comes once, by a token and to an RPC with a limit. */
async function fillCaches(port: number, tokenOf: (claims: JWTPayload) => Promise<string>) {
  let next = 0;
  const work = async () => {
    for (let number = next++; number < CALLERS; number = next++) {
      const sub = callerOf(number);
      const authorization = `Bearer ${await tokenOf({ sub, jti: `warm-${number}` })}`;
      await get(port, "/v1/profile", { authorization });
      await get(port, "/v1/documents/open:poll", { "x-svc-external-sub": sub });
    }
  };
  await Promise.all(Array.from({ length: WARM_UP_WIDTH }, work));
}

/** Calls of all kinds, each kind one after the other. */
function startLoad(addresses: ServerAddresses, tokenOf: (claims: JWTPayload) => Promise<string>) {
  const http = addresses["http"]?.port ?? 0;
  const client = createGrpcClient(VaultService, { target: `127.0.0.1:${addresses["grpc"]?.port}` });
  const internal = { metadata: { "x-svc-internal-token": INTERNAL_TOKEN } };
  let calls = 0;
  let isOver = false;
  const work = async (call: (number: number) => Promise<unknown>) => {
    for (let number = 0; !isOver; number++) {
      await call(number).catch(() => undefined);
      calls++;
      await sleep(PAUSE_MS);
    }
  };
  const bearer = async (number: number) => {
    return {
      authorization: `Bearer ${await tokenOf({ sub: callerOf(number), jti: String(number) })}`,
    };
  };
  const alice = { "x-svc-external-sub": "alice" };
  const workers = [
    work(async (number) => get(http, "/v1/profile", await bearer(number))),
    work(async (number) => get(http, "/v1/profile", { authorization: `Bearer x.y.${number}` })),
    work((number) =>
      get(http, "/v1/documents/open:poll", { "x-svc-external-sub": callerOf(number) }),
    ),
    work((number) => get(http, `/v1/documents/d${number}`, alice)),
    work(() => get(http, "/v1/documents/open:watch?count=20", alice)),
    work((number) => get(http, `/nowhere/${number}`, {})),
    work(() => abandoned(http, "/v1/documents/open:watch?count=1000000", alice)),
    work((number) =>
      client.updateDocument({ documentId: "open", text: `${number}` }, { metadata: alice }),
    ),
    work((number) => client.reconcile({ reason: `${number}` }, internal)),
    work(async () => {
      for await (const _ of client.watchDocument(
        { documentId: "open", count: 20 },
        { metadata: alice },
      )) {
        // Read to the end.
      }
    }),
    work(async () => {
      const endless = { documentId: "open", count: 1_000_000 };
      for await (const _ of client.watchDocument(endless, { metadata: alice, timeoutMs: 20 })) {
        // Until the time is up.
      }
    }),
    work(async (number) => {
      const texts = (async function* () {
        for (let index = 0; index < 5; index++) yield { text: `${number}-${index}` };
      })();
      for await (const _ of client.converse(texts, { metadata: alice })) {
        // Read to the end.
      }
    }),
  ];
  return {
    calls: () => calls,
    async stop() {
      isOver = true;
      await Promise.all(workers);
      await client.close();
    },
  };
}

async function get(port: number, path: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  await response.arrayBuffer();
}

/** A call that is given up when its answer has begun. */
function abandoned(port: number, path: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = request({ port, host: "127.0.0.1", path, headers, agent: false });
    outgoing.on("response", (response) => response.once("data", () => outgoing.destroy()));
    outgoing.on("error", () => undefined);
    outgoing.on("close", () => resolve());
    outgoing.end();
  });
}

async function serve(folder: string, issuer: string): Promise<void> {
  const authn = { mode: "hybrid", oidc: { issuer, audience: [AUDIENCE] } };
  const server = await createServer({
    configuration: vaultConfiguration(folder, { authn }, {}),
    bindings: [bindVaultService(vaultHandlers())],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  const addresses = await server.start();
  if (server.engine !== undefined) await shareDocument(server.engine);
  process.on("message", () => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.send?.({ heap: heapUsed, rss });
  });
  process.send?.(addresses);
}

if (process.argv[2] === "--serve") {
  await serve(process.argv[3] ?? "", process.argv[4] ?? "");
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = (await benchRuntimeMemory()) ? 0 : 1;
}
