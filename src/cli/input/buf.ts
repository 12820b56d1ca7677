import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../diagnostics/usage-error.ts";

/** The maximum size of an image; that of the largest public proto tree has 90 MB. */
const MAX_IMAGE_BYTES = 1 << 30;

/**
 * Builds an image with buf.
 *
 * @param input - an input of buf: a folder, an archive, a module
 * @throws UsageError if buf is not found, or rejects the protos; the message is
 * that of buf.
 */
export function buildImage(input: string): Uint8Array {
  return runBuf(["build", input, "-o", "-#format=binpb"], `buf cannot build ${input}`, (said) =>
    explainBuf(said, input),
  );
}

/** The folders of the modules that a workspace configures, relative to it. */
export function listModules(workspace: string): string[] {
  const config = join(workspace, "buf.yaml");
  const output = runBuf(
    ["config", "ls-modules", "--config", config, "--format", "json"],
    `buf cannot read ${config}`,
  );
  return Buffer.from(output)
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { path: string }).path);
}

function runBuf(
  args: readonly string[],
  what: string,
  explain: (said: string) => string = (said) => said,
): Uint8Array {
  const command = findBuf();
  const result = spawnSync(command, args, {
    maxBuffer: MAX_IMAGE_BYTES,
    stdio: ["ignore", "pipe", "pipe"],
    shell: command.endsWith(".cmd"),
  });
  if (result.error !== undefined) throw new UsageError(`${what}: ${result.error.message}`);
  if (result.status !== 0) {
    const reason = result.stderr.toString("utf8").trim() || result.stdout.toString("utf8").trim();
    throw new UsageError([`${what}:`, ...explain(reason).split(/\r?\n/)]);
  }
  return result.stdout;
}

/** Finds buf on PATH, else in the nearest `node_modules`. */
function findBuf(): string {
  const names = process.platform === "win32" ? ["buf.exe", "buf.cmd"] : ["buf"];
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const here = dirname(fileURLToPath(import.meta.url));
  folders.push(...binFolders(process.cwd()), ...binFolders(here));
  for (const folder of folders) {
    for (const name of names) {
      const path = join(folder, name);
      if (existsSync(path)) return path;
    }
  }
  throw new UsageError(
    "buf is needed to read this input and was not found; run npm install --save-dev @bufbuild/buf, or pass an image",
  );
}

function* binFolders(start: string): Iterable<string> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    yield join(folder, "node_modules", ".bin");
    if (dirname(folder) === folder) return;
  }
}

const MISSING_ANNOTATION =
  /cannot find `?(?:svc\.access\.v1|google\.api)\.|(?:svc\/access|google\/api)\/[\w/]+\.proto\b.*(?:does not exist|not found)/;
const OF_PACKAGES = /^(?:[^:\n]*\/)?node_modules\//;

/**
 * The errors of buf for an input that it cannot build, with a fix if one is known.
 *
 * @param said - one problem per line
 */
export function explainBuf(said: string, input: string): string {
  const lines = said.split(/\r?\n/);
  const own = lines.filter((line) => !OF_PACKAGES.test(line));
  const left = lines.length - own.length;
  const hints: string[] = [];
  if (left > 0) {
    hints.push(
      `${left} of these problems are in protos below node_modules, which buf reads if no buf.yaml lists the modules: pass the folder of your own protos, or images of the services, such as svc-access lint a.binpb b.binpb`,
    );
  }
  if (own.some((line) => MISSING_ANNOTATION.test(line))) {
    hints.push(
      `no module has the protos of svc/access or google/api: run npx svc-access init in the repository; or, without buf, build an image with protoc --descriptor_set_out=image.binpb --include_imports --include_source_info, and pass image.binpb instead of ${input}`,
    );
  }
  if (own.some((line) => line.includes("image contains no files"))) {
    hints.push(`${input} has no protos: pass the folder of the protos, such as ., or an image`);
  }
  return [...own, ...hints].join("\n");
}
