import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "../../src/compiler/targets.ts";
import { PlatformError } from "./platform-error.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const HUB = join(ROOT, "examples/hub");
const BIN = join(HUB, "node_modules/.bin");

/** What each target makes, and what protoc-gen-es does. */
const KINDS: Readonly<
  Record<Target | "messages", { readonly what: string; readonly files: RegExp }>
> = {
  routes: { what: "registry entries", files: /^routes\// },
  policies: { what: "middleware tables", files: /^policies\.json$|_access\.ts$/ },
  server: { what: "typed handlers and bind functions", files: /_server\.ts$/ },
  gateway: { what: "Envoy Gateway configuration", files: /^gateway\// },
  messages: { what: "of protoc-gen-es", files: /_pb\.ts$/ },
};

/**
 * Lints and generates `examples/hub` as its developer would, and prints what was made.
 *
 * @param signal ends the program that runs
 * @throws PlatformError where a program fails, or this checkout is not built
 */
export async function compileHub(signal?: AbortSignal): Promise<void> {
  if (!existsSync(join(ROOT, "dist/svc-access.js")) || !existsSync(BIN)) {
    throw new PlatformError("svc-access is not built: run npm ci, or npm run prepare", 2);
  }
  await run(signal, "buf", "lint");
  await run(signal, "buf", "generate");
  printFiles();
  printExposures();
  await run(signal, "svc-access", "explain", ".", "PublishSkill");
}

function run(signal: AbortSignal | undefined, command: string, ...args: string[]): Promise<void> {
  signal?.throwIfAborted();
  process.stdout.write(`$ npx ${command} ${args.join(" ")}\n`);
  const child = spawn(join(BIN, command), args, {
    cwd: HUB,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: `${BIN}:${process.env["PATH"]}` },
    // A group of its own, which is ended with the plugins that it has started.
    detached: true,
  });
  const end = () => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, "SIGKILL");
  };
  signal?.addEventListener("abort", end, { once: true });
  return new Promise<void>((resolve, reject) => {
    child.once("error", (error) => reject(new PlatformError(error.message)));
    child.once("close", (code) => {
      signal?.removeEventListener("abort", end);
      if (code === 0) resolve();
      else reject(new PlatformError(`${command} ${args.join(" ")} has failed in examples/hub`));
    });
  });
}

function printFiles(): void {
  const gen = join(HUB, "gen");
  const made = readdirSync(gen, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(gen.length + 1))
    .sort();
  process.stdout.write(`\n${made.length} files in examples/hub/gen:\n`);
  for (const [kind, { what, files: pattern }] of Object.entries(KINDS)) {
    const files = made.filter((name) => pattern.test(name));
    process.stdout.write(`  ${kind.padEnd(8)}  ${what}: ${files.length}\n`);
    for (const name of files.slice(0, 5)) process.stdout.write(`    ${name}\n`);
    if (files.length > 5) process.stdout.write(`    and ${files.length - 5} more\n`);
  }
}

function printExposures(): void {
  const { policies } = JSON.parse(readFileSync(join(HUB, "gen/policies.json"), "utf8")) as {
    readonly policies: Readonly<Record<string, { readonly exposure: string }>>;
  };
  const exposures = new Map<string, number>();
  for (const { exposure } of Object.values(policies)) {
    exposures.set(exposure, (exposures.get(exposure) ?? 0) + 1);
  }
  const summary = [...exposures].map(([exposure, number]) => `${number} ${exposure}`).join(", ");
  process.stdout.write(`\n${Object.keys(policies).length} RPCs: ${summary}\n\n`);
}
