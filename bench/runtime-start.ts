/**
 * How long the hub of `examples/` takes from its start to being ready, and its memory then, beside a
 * bare server of `node:http` that is started in the same way: a process of its own, with six services,
 * the embedded engine over SQLite, HTTP, gRPC and metrics. It runs the bundles in
 * `dist/`; its own code as JavaScript, as it is deployed, and as TypeScript, which Node turns into
 * JavaScript at each start. `node bench/runtime-start.ts` runs it alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { besidePinned } from "./pinning.ts";
import { HUB_SECRETS, residentMegabytes, type StartTime, startService } from "./service-start.ts";
import { atMost, median, note } from "./verdict.ts";

const ROUNDS = 11;
const START_LIMIT = 6;
const MEMORY_LIMIT = 2;
/** After how long it is at rest. */
const REST_MS = 1_000;
const MAIN = new URL("../examples/hub/src/hub/main.ts", import.meta.url).pathname;
/** Beside the source, from where it finds its files; not committed. */
const BUILT = MAIN.replace("main.ts", "main.bench.mjs");
const BARE = `import { createServer } from "node:http";
const server = createServer((request, response) => response.end("ready"));
server.listen(Number(process.env.HTTP_ADDRESS.split(":")[1]), "127.0.0.1");
`;

interface Start extends StartTime {
  /** What it has in memory, at rest. */
  readonly megabytes: number;
}

/** Prints how a start of the hub compares with one of the bare server, to the first request that is answered. */
export async function benchRuntimeStart(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "svc-access-bench-start-"));
  const bare = join(data, "bare.mjs");
  writeFileSync(bare, BARE);
  try {
    await build({
      entryPoints: [MAIN],
      outfile: BUILT,
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      logLevel: "warning",
    });
    process.stdout.write("\nruntime-start: the hub, from its start to ready, and at rest\n");
    await besidePinned(() => compare({ bare, data }));
  } finally {
    rmSync(BUILT, { force: true });
    rmSync(data, { recursive: true, force: true });
  }
}

async function compare({ bare, data }: { bare: string; data: string }): Promise<void> {
  const rounds: { readonly bare: Start; readonly built: Start; readonly source: Start }[] = [];
  // The first one makes the database, and warms the disk.
  for (let round = -1; round < ROUNDS; round++) {
    const starts = {
      bare: await start(bare, data),
      built: await start(BUILT, data),
      source: await start(MAIN, data),
    };
    if (round >= 0) rounds.push(starts);
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  atMost(
    "start / that of node:http",
    of((round) => round.built.seconds / round.bare.seconds),
    START_LIMIT,
  );
  atMost(
    "memory at rest / that of node:http",
    of((round) => round.built.megabytes / round.bare.megabytes),
    MEMORY_LIMIT,
  );
  for (const [name, side] of [
    ["node:http", "bare"],
    ["the hub", "built"],
    ["the hub, from its TypeScript", "source"],
  ] as const) {
    const seconds = of((round) => round[side].seconds).toFixed(3);
    const busy = of((round) => round[side].busySeconds).toFixed(2);
    const megabytes = of((round) => round[side].megabytes).toFixed(0);
    note(`  ${name.padEnd(30)} ${seconds} s, ${busy} of them busy, ${megabytes} MB`);
  }
}

async function start(main: string, data: string): Promise<Start> {
  const { stop, ...started } = await startService({
    args: [main],
    env: { DATA: data, ...HUB_SECRETS },
  });
  try {
    await sleep(REST_MS);
    return { ...started, megabytes: residentMegabytes(started.pid) };
  } finally {
    await stop();
  }
}

if (import.meta.main) await benchRuntimeStart();
