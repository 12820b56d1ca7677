/** Lints and generates `examples/hub`, and prints a summary. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const hub = join(root, "examples/hub");
const bin = join(hub, "node_modules/.bin");

if (!existsSync(join(root, "dist/svc-access.js")) || !existsSync(bin)) {
  process.stderr.write("svc-access is not built: run npm ci, or npm run prepare\n");
  process.exit(2);
}
run("buf", "lint");
run("buf", "generate");
const made = listFiles(join(hub, "gen"));
process.stdout.write(`\n${made.length} files in examples/hub/gen:\n`);
for (const [what, pattern] of [
  ["routes    registry entries", /^routes\//],
  ["policies  middleware tables", /^policies\.json$|_access\.ts$/],
  ["server    typed handlers and bind functions", /_server\.ts$/],
  ["gateway   Envoy Gateway configuration", /^gateway\//],
  ["messages  of protoc-gen-es", /_pb\.ts$/],
] as const) {
  const files = made.filter((name) => pattern.test(name));
  process.stdout.write(`  ${what}: ${files.length}\n`);
  for (const name of files.slice(0, 5)) process.stdout.write(`    ${name}\n`);
  if (files.length > 5) process.stdout.write(`    and ${files.length - 5} more\n`);
}
const { policies } = JSON.parse(readFileSync(join(hub, "gen/policies.json"), "utf8")) as {
  policies: Record<string, { exposure: string }>;
};
const exposures = new Map<string, number>();
for (const { exposure } of Object.values(policies)) {
  exposures.set(exposure, (exposures.get(exposure) ?? 0) + 1);
}
const summary = [...exposures].map(([exposure, number]) => `${number} ${exposure}`).join(", ");
process.stdout.write(`\n${Object.keys(policies).length} RPCs: ${summary}\n\n`);
run("svc-access", "explain", ".", "PublishSkill");
regenerateNotes();

/** Runs a program of the example as a user would, and exits if it fails. */
function run(command: string, ...args: string[]): void {
  process.stdout.write(`$ npx ${command} ${args.join(" ")}\n`);
  const { status, error } = spawnSync(join(bin, command), args, {
    cwd: hub,
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
  });
  if (error !== undefined) process.stderr.write(`${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}

/** Also generates the smaller example, which is committed, too. */
function regenerateNotes(): void {
  const cwd = join(root, "examples/notes");
  const env = { ...process.env, PATH: `${join(cwd, "node_modules/.bin")}:${process.env["PATH"]}` };
  const { status } = spawnSync("buf", ["generate"], { cwd, env, stdio: "ignore" });
  if (status !== 0) process.exit(status ?? 1);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
