/**
 * Generates the code of protos, `src/gen/proto` and `gen` of the examples and services, as `buf generate`
 * does with these sources. It needs no build. With `--check`, it writes nothing, and fails where the
 * committed code differs.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";

const root = new URL("../", import.meta.url).pathname;
const buf = join(root, "node_modules/.bin/buf");

/** The parts of a buf.gen.yaml that are read and changed. */
interface Template {
  readonly plugins: { local: string | readonly string[]; strategy?: "all" }[];
}

/** The plugin of this package, by its name in templates. */
const OURS = "protoc-gen-svc-access";
const SOURCE = [process.execPath, join(root, "scripts/generate/protoc-plugin.ts")];

/** The folder of each template, and its output. */
interface Tree {
  readonly folder: string;
  readonly out: string;
}

/** The IAM API, and each example and service. */
const TREES: readonly Tree[] = [
  { folder: "", out: "src/gen/proto" },
  ...globSync("{examples,services}/*/buf.gen.yaml", { cwd: root }).map((template) => ({
    folder: dirname(template),
    out: "gen",
  })),
];

const isCheck = process.argv.includes("--check");
const temporary = mkdtempSync(join(tmpdir(), "svc-access-generated-"));
try {
  const problems = await Promise.all(TREES.map(generate));
  for (const problem of problems.flat()) process.stderr.write(`${problem}\n`);
  if (problems.flat().length > 0) process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** Returns what is wrong. */
async function generate({ folder, out }: Tree, index: number): Promise<string[]> {
  const cwd = join(root, folder);
  const made = join(temporary, String(index));
  const template = parse(readFileSync(join(cwd, "buf.gen.yaml"), "utf8")) as Template;
  // One process for all folders makes the same files faster.
  for (const plugin of template.plugins) plugin.strategy = "all";
  const ours = template.plugins.find(({ local }) => [local].flat().at(-1)?.endsWith(OURS));
  if (ours === undefined) return [`${join(folder, "buf.gen.yaml")} does not name ${OURS}`];
  ours.local = SOURCE;
  const args = ["generate", "--template", JSON.stringify(template), "-o", made];
  try {
    await promisify(execFile)(buf, args, { cwd });
  } catch (error) {
    return [`${join(folder, out)}: ${(error as { stderr?: string }).stderr || error}`];
  }
  const expected = contentsOf(join(made, out));
  const committed = contentsOf(join(cwd, out));
  const names = [...new Set([...expected.keys(), ...committed.keys()])].sort();
  const drifted = names.filter((name) => expected.get(name) !== committed.get(name));
  if (drifted.length === 0) return [];
  if (isCheck) {
    return [`${join(folder, out)} drifted (${drifted.join(", ")}); npm run generate, and commit`];
  }
  rmSync(join(cwd, out), { recursive: true, force: true });
  cpSync(join(made, out), join(cwd, out), { recursive: true });
  return [];
}

/** The files below a folder, by their paths; none of a new service, which has no `gen` yet. */
function contentsOf(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
    }),
  );
}
