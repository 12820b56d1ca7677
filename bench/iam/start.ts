/**
 * How long `svc-iam serve` takes to be ready, beside what it cannot do without: the import of
 * `oidc-provider` in a fresh process, and the start of the hub of `examples/`, a server with the
 * embedded engine. Each is a bundle, as in the images, with its tables made before.
 * `node bench/iam/start.ts` runs it alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { BUNDLE_OPTIONS } from "../../scripts/bundle-options.ts";
import { measure } from "../measure.ts";
import { besidePinned, pinned } from "../pinning.ts";
import { HUB_SECRETS, type StartTime, startService } from "../service-start.ts";
import { atMost, median, note } from "../verdict.ts";

const ROUNDS = 11;
const LIMIT = 2.5;
const ROOT = join(import.meta.dirname, "../..");
const IAM = join(ROOT, "services/iam");
const HUB = join(ROOT, "examples/hub");
/** Their paths are those of the folders that they are in. */
const IAM_FILE = join(IAM, "service.yaml");
const HUB_FILE = join(HUB, "hub.yaml");

/** Prints how the start compares. */
export async function benchIamStart(): Promise<void> {
  process.stdout.write("\niam-start: svc-iam, from its start to ready\n");
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-iam-start-"));
  try {
    const bundles = await bundleAll(folder);
    await besidePinned(() => compare(folder, bundles));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The programs that are measured. */
interface Bundles {
  readonly iam: string;
  readonly hub: string;
  readonly library: string;
}

/** Services as in their images, and the library in the same form. */
async function bundleAll(folder: string): Promise<Bundles> {
  const out = { iam: join(folder, "iam"), hub: join(folder, "hub"), library: join(folder, "oidc") };
  await bundleService(IAM, out.iam);
  await bundleService(HUB, out.hub, "hub/main.ts");
  const library = join(out.library, "main.js");
  await build({
    // Where the packages of svc-iam are.
    stdin: { contents: 'await import("oidc-provider");', resolveDir: IAM },
    outdir: out.library,
    entryNames: "main",
    ...BUNDLE_OPTIONS,
  });
  writeFileSync(join(out.library, "package.json"), '{"type": "module"}\n');
  return { iam: join(out.iam, "dist/main.js"), hub: join(out.hub, "dist/hub/main.js"), library };
}

async function bundleService(folder: string, out: string, ...entries: string[]): Promise<void> {
  const script = join(ROOT, "scripts/bundle-service.ts");
  const args = [script, folder, out, ...entries];
  const { status } = await measure({ program: process.execPath, args });
  if (status !== 0) throw new Error(`${folder} cannot be bundled`);
}

async function compare(folder: string, bundles: Bundles): Promise<void> {
  const data = {
    iam: mkdtempSync(join(folder, "iam-data-")),
    hub: mkdtempSync(join(folder, "hub-data-")),
  };
  const rounds: { readonly iam: StartTime; readonly library: number; readonly hub: StartTime }[] =
    [];
  // The first one makes the tables and the keys, and warms the disk.
  for (let round = -1; round < ROUNDS; round++) {
    const times = {
      library: await importLibrary(bundles.library),
      hub: await start([bundles.hub, HUB_FILE], { DATA: data.hub, ...HUB_SECRETS }),
      iam: await start([bundles.iam, "serve", IAM_FILE], { DATA: data.iam }),
    };
    if (round >= 0) rounds.push(times);
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  atMost(
    "bundled start / (bundled import + bundled hub)",
    of(({ iam, library, hub }) => iam.seconds / (library + hub.seconds)),
    LIMIT,
  );
  const busy = (side: "iam" | "hub") => of((round) => round[side].busySeconds).toFixed(2);
  note(`  svc-iam ${of(({ iam }) => iam.seconds).toFixed(3)} s, ${busy("iam")} of them busy`);
  note(`  the import ${of(({ library }) => library).toFixed(3)} s`);
  note(`  the hub ${of(({ hub }) => hub.seconds).toFixed(3)} s, ${busy("hub")} of them busy`);
}

async function importLibrary(bundle: string): Promise<number> {
  const [program, args] = pinned(process.execPath, [bundle]);
  const { seconds, status } = await measure({ program, args });
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
