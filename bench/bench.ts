/**
 * The benchmarks. Each prints ratios to a peer that is measured in the same run, since machines
 * differ threefold, and the exit code says whether all are within their limits.
 * `npm run bench -- lint` runs those of a name only.
 */
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchAuthz } from "./authz.ts";
import { benchAuthzSpicedb } from "./authz-spicedb.ts";
import { benchAuthzWrites } from "./authz-writes.ts";
import { annotate, fetchGoogleProtos } from "./google.ts";
import { benchIamCheck } from "./iam/check.ts";
import { benchIamCheckSpicedb } from "./iam/check-spicedb.ts";
import { benchIamContainer } from "./iam/container.ts";
import { benchIamMe } from "./iam/me.ts";
import { benchIamMillion } from "./iam/million.ts";
import { benchIamPassword } from "./iam/password.ts";
import { benchIamRevocation } from "./iam/revocation.ts";
import { benchIamStart } from "./iam/start.ts";
import { benchIamUsers } from "./iam/user-pages.ts";
import { type Command, inTurn, type Measurement, measure, median } from "./measure.ts";
import { benchRuntime } from "./runtime.ts";
import { benchRuntimeChain } from "./runtime-chain.ts";
import { benchRuntimeMemory } from "./runtime-memory.ts";
import { benchRuntimeStart } from "./runtime-start.ts";
import { syntheticConfig, syntheticRequest } from "./synthetic.ts";
import { atMost } from "./verdict.ts";

const root = new URL("..", import.meta.url).pathname;
const hub = join(root, "examples/hub");
/** How many times as much as its image a lint may have in memory. */
const IMAGE_SHARE = 6.3;
const wanted = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "svc-access-bench-"));

const BENCHMARKS: Readonly<Record<string, () => Promise<unknown>>> = {
  lint: benchLint,
  generate: benchGenerate,
  growth: benchGrowth,
  "check-plugin": benchCheckPlugin,
  authz: benchAuthz,
  "authz-writes": benchAuthzWrites,
  "authz-spicedb": benchAuthzSpicedb,
  runtime: benchRuntime,
  "runtime-chain": benchRuntimeChain,
  "runtime-start": benchRuntimeStart,
  "runtime-memory": benchRuntimeMemory,
  "iam-me": benchIamMe,
  "iam-password": benchIamPassword,
  "iam-start": benchIamStart,
  "iam-container": benchIamContainer,
  "iam-revocation": benchIamRevocation,
  "iam-check": benchIamCheck,
  "iam-check-spicedb": benchIamCheckSpicedb,
  "iam-users": benchIamUsers,
  "iam-million": benchIamMillion,
};

/** Those that take many minutes. */
const ON_REQUEST: ReadonlySet<string> = new Set(["runtime-memory", "iam-million"]);

try {
  for (const [name, run] of Object.entries(BENCHMARKS)) {
    const isWanted = wanted.length === 0 ? !ON_REQUEST.has(name) : wanted.includes(name);
    if (isWanted) await run();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Lint of 13,000 RPCs from an image, against the time that buf takes to build it. */
async function benchLint(): Promise<void> {
  const tree = fetchGoogleProtos();
  const image = join(scratch, "google.binpb");
  const report = join(scratch, "report.json");
  const build: Command = { program: "buf", args: ["build", tree, "-o", image] };
  const lint: Command = {
    program: "svc-access",
    args: ["lint", image, "--format", "json"],
    cwd: scratch,
    output: report,
  };
  await measure(build);
  const [built, linted] = await inTurn(build, lint, 3);
  const { findings, rpcs } = JSON.parse(readFileSync(report, "utf8")) as {
    findings: { rule: string }[];
    rpcs: number;
  };
  const unannotated = findings.filter(({ rule }) => rule === "ACCESS_POLICY_REQUIRED").length;
  result("lint", `of ${rpcs} RPCs, ${unannotated} found without a policy`);
  figure("buf build", built);
  figure("svc-access lint", linted);
  atMost("lint / build", linted.seconds / built.seconds, 0.08);
  atMost("memory / the image", linted.megabytes / (statSync(image).size / 2 ** 20), IMAGE_SHARE);
  atMost("unannotated RPCs that were missed", rpcs - unannotated, 0);
}

/** All four targets on 13,000 annotated RPCs, against protoc-gen-es on the same request. */
async function benchGenerate(): Promise<void> {
  const tree = fetchGoogleProtos();
  const image = join(scratch, "google.binpb");
  await measure({ program: "buf", args: ["build", tree, "-o", image] });
  const config = join(scratch, "google.yaml");
  const corpus = annotate(readFileSync(image), `config=${config}`);
  writeFileSync(config, corpus.config);
  writeFileSync(join(scratch, "ours.binpb"), corpus.request);
  writeFileSync(join(scratch, "peer.binpb"), annotate(readFileSync(image), "target=ts").request);
  const output = join(scratch, "response.binpb");
  const ours = await median(
    { program: "protoc-gen-svc-access", args: [], input: join(scratch, "ours.binpb"), output },
    3,
  );
  const bytes = readFileSync(output).length;
  const peer = await measure({
    program: "node",
    args: ["--max-old-space-size=8192", join(root, "node_modules/.bin/protoc-gen-es")],
    input: join(scratch, "peer.binpb"),
    output,
  });
  result(
    "generate",
    `four targets of ${corpus.rpcs} RPCs, ${corpus.withoutBinding} of them without a binding; ${(bytes / 1e6).toFixed(0)} MB made`,
  );
  figure("protoc-gen-es", peer);
  figure("protoc-gen-svc-access", ours);
  atMost("ours / protoc-gen-es", ours.seconds / peer.seconds, 0.05);
}

/** 10,000 RPCs against 1,000, start-up subtracted. */
async function benchGrowth(): Promise<void> {
  const run = async (rpcs: number) => {
    const config = join(scratch, `growth-${rpcs}.yaml`);
    const input = join(scratch, `growth-${rpcs}.binpb`);
    writeFileSync(config, syntheticConfig(rpcs));
    writeFileSync(input, syntheticRequest(rpcs, `config=${config}`));
    return median({ program: "protoc-gen-svc-access", args: [], input }, 5);
  };
  // The least request, which loads all that the others load.
  const start = await run(50);
  const small = await run(1_000);
  const large = await run(10_000);
  result("growth", "all four targets, start-up subtracted");
  figure("start-up", start);
  figure("1,000 RPCs", small);
  figure("10,000 RPCs", large);
  atMost("10,000 / 1,000", (large.seconds - start.seconds) / (small.seconds - start.seconds), 12);
}

/** What the check plugin adds to buf lint. */
async function benchCheckPlugin(): Promise<void> {
  const repo = join(scratch, "hub");
  cpSync(hub, repo, {
    recursive: true,
    filter: (path) =>
      !path.startsWith(join(hub, "node_modules")) && !path.startsWith(join(hub, "gen")),
  });
  for (const name of ["proto", "model"]) {
    cpSync(join(root, name), join(repo, "node_modules/svc-access", name), { recursive: true });
  }
  const bare = join(repo, "without.yaml");
  copyFileSync(join(repo, "buf.yaml"), bare);
  const text = readFileSync(bare, "utf8");
  writeFileSync(
    bare,
    text.replace(/plugins:\n[\s\S]*?(?=lint:)/, "").replace("    - ACCESS\n", ""),
  );
  const [without, withPlugin] = await inTurn(
    { program: "buf", args: ["lint", "--config", bare], cwd: repo },
    { program: "buf", args: ["lint"], cwd: repo },
    11,
  );
  result("check-plugin", "buf lint of examples/hub");
  figure("without the plugin", without);
  figure("with the plugin", withPlugin);
  atMost(
    "added / buf lint without it",
    (withPlugin.seconds - without.seconds) / without.seconds,
    0.5,
  );
}

function result(name: string, what: string): void {
  process.stdout.write(`\n${name}: ${what}\n`);
}

function figure(what: string, { seconds, megabytes, status }: Measurement): void {
  const failed = status === 0 || status === 1 ? "" : `  exit status ${status}`;
  process.stdout.write(
    `  ${what.padEnd(34)} ${seconds.toFixed(3).padStart(9)} s  ${megabytes.toFixed(0).padStart(5)} MB${failed}\n`,
  );
}
