/**
 * How long `svc-iam serve` takes to be ready, beside what it cannot do without: the import of
 * `oidc-provider` in a fresh process, and the start of the hub of `examples/`, a server with the
 * embedded engine. Each runs from its TypeScript, with its tables made before.
 * `node bench/iam/start.ts` runs it alone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure } from "../measure.ts";
import { besidePinned, pinned } from "../pinning.ts";
import { HUB_SECRETS, type StartTime, startService } from "../service-start.ts";
import { atMost, median, note } from "../verdict.ts";
import { IAM_MAIN } from "./iam-service.ts";

const ROUNDS = 11;
const LIMIT = 2.5;
const HUB_MAIN = join(import.meta.dirname, "../../examples/hub/src/hub/main.ts");
const IAM_FILE = join(import.meta.dirname, "../../services/iam/service.yaml");

/** Prints how the start compares. */
export async function benchIamStart(): Promise<void> {
  process.stdout.write("\niam-start: svc-iam, from its start to ready\n");
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-iam-start-"));
  try {
    await besidePinned(() => compare(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(folder: string): Promise<void> {
  const data = { iam: mkdtempSync(join(folder, "iam-")), hub: mkdtempSync(join(folder, "hub-")) };
  const rounds: { readonly iam: StartTime; readonly library: number; readonly hub: StartTime }[] =
    [];
  // The first one makes the tables and the keys, and warms the disk.
  for (let round = -1; round < ROUNDS; round++) {
    const times = {
      library: await importLibrary(),
      hub: await start([HUB_MAIN], { DATA: data.hub, ...HUB_SECRETS }),
      iam: await start([IAM_MAIN, "serve", IAM_FILE], { DATA: data.iam }),
    };
    if (round >= 0) rounds.push(times);
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  atMost(
    "start / (import of oidc-provider + start of the hub)",
    of(({ iam, library, hub }) => iam.seconds / (library + hub.seconds)),
    LIMIT,
  );
  const busy = (side: "iam" | "hub") => of((round) => round[side].busySeconds).toFixed(2);
  note(`  svc-iam ${of(({ iam }) => iam.seconds).toFixed(3)} s, ${busy("iam")} of them busy`);
  note(`  the import ${of(({ library }) => library).toFixed(3)} s`);
  note(`  the hub ${of(({ hub }) => hub.seconds).toFixed(3)} s, ${busy("hub")} of them busy`);
}

async function importLibrary(): Promise<number> {
  const [program, args] = pinned(process.execPath, [
    "--input-type=module",
    "--eval",
    'await import("oidc-provider");',
  ]);
  // Where the packages of svc-iam are.
  const { seconds, status } = await measure({ program, args, cwd: join(IAM_MAIN, "../..") });
  if (status !== 0) throw new Error("oidc-provider cannot be imported");
  return seconds;
}

async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<StartTime> {
  const { stop, ...time } = await startService({ args, env });
  await stop();
  return time;
}

if (import.meta.main) await benchIamStart();
