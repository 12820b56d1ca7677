import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import {
  type BufTemplate,
  BufTemplateError,
  readBufTemplate,
} from "../../compiler/buf-template.ts";
import { UsageError } from "../../diagnostics/usage-error.ts";
import { COPIES } from "./shipped-protos.ts";
import type { Workspace } from "./workspace.ts";

const OUT = "gen";

/**
 * The `buf.gen.yaml` of a repository. Node.js runs the generated code directly: imports end in `.ts`,
 * and enums are objects, since Node.js only strips types.
 *
 * @param isCleaned - whether the output folder contains only generated files
 */
export function bufGenYaml(inputs: string, isCleaned: boolean): string {
  return `version: v2
${isCleaned ? "clean: true\n" : ""}inputs:
${inputs}plugins:
${messagesPlugin(OUT)}${accessPlugin(OUT, "ts")}`;
}

function messagesPlugin(out: string): string {
  return `  - local: protoc-gen-es
    out: ${out}
    include_imports: true
    opt:
      - target=ts
      - import_extension=ts
      - erasable_syntax=true
`;
}

function accessPlugin(out: string, extension: string): string {
  return `  - local: protoc-gen-svc-access
    out: ${out}
    strategy: all
    opt:
      - config=svc-access.yaml
      - import_extension=${extension}
`;
}

/**
 * The plugins that the `buf.gen.yaml` of a repository lacks.
 *
 * @param folder - the repository
 * @returns empty text if it lacks none
 */
export function additionsToBufGen(folder: string): string {
  const path = join(folder, "buf.gen.yaml");
  if (!existsSync(path)) return "";
  const plugins = pluginsOf(path);
  const named = (...names: readonly string[]) =>
    plugins.find(({ name }) => names.some((one) => name.includes(one)));
  if (named("protoc-gen-svc-access") !== undefined) return "";
  const es = named("protoc-gen-es", "bufbuild/es");
  if (es === undefined) return `plugins:\n${messagesPlugin(OUT)}${accessPlugin(OUT, "ts")}`;
  const extension = /^import_extension=(.+)$/m.exec(es.options)?.[1] ?? "ts";
  const missing = ["target=ts", "import_extension=ts", "erasable_syntax=true"].filter(
    (option) => !es.options.split("\n").includes(option),
  );
  const advice = `
So that Node.js runs the generated code directly, give ${es.name} the options ${missing.join(", ")}.
`;
  return `plugins:\n${accessPlugin(es.out, extension)}${missing.length === 0 ? "" : advice}`;
}

/**
 * The folder of the generated code: that of an existing `buf.gen.yaml`, or `gen`.
 *
 * @throws UsageError if messages are not generated into the same folder as the code that imports them
 */
export function outputFolder(folder: string): string {
  const path = join(folder, "buf.gen.yaml");
  if (!existsSync(path)) return OUT;
  const plugins = pluginsOf(path);
  const outOf = (...names: readonly string[]) =>
    plugins.find(({ name }) => names.some((one) => name.includes(one)))?.out;
  const own = outOf("protoc-gen-svc-access");
  const messages = outOf("protoc-gen-es", "bufbuild/es");
  if (own !== undefined && messages !== undefined && tidy(own) !== tidy(messages)) {
    throw new UsageError(
      `${path} generates into ${messages} and ${own}: write the same out for both, since their files import each other, then run init again`,
    );
  }
  return own ?? messages ?? OUT;
}

function tidy(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, "");
}

interface Plugin {
  readonly name: string;
  readonly out: string;
  /** One per line. */
  readonly options: string;
}

/** @throws UsageError if the file cannot be read, or its version has no inputs */
function pluginsOf(path: string): readonly Plugin[] {
  let template: BufTemplate | undefined;
  try {
    template = readBufTemplate(path);
  } catch (error) {
    if (error instanceof BufTemplateError) throw new UsageError(error.message);
    throw error;
  }
  if (template?.version !== "v2") {
    throw new UsageError(
      `${path} does not have version v2: run npx buf config migrate, then init again`,
    );
  }
  return template.plugins.map(({ command, out = OUT, options }) => {
    return { name: command.join(" "), out, options };
  });
}

/**
 * The inputs: the only module, or the workspace without imported modules. buf runs a plugin once per
 * input, and one run must have all files.
 */
export function inputsOf(folder: string, { own, imported, annotation }: Workspace): string {
  const [first] = own;
  if (own.length === 1 && first !== ".") return `  - directory: ${first}\n`;
  const modules = [...imported, annotation ?? COPIES].filter((path) => !own.includes(path));
  // buf cannot exclude a module with its own folder.
  const excluded = modules.flatMap((path) => foldersOf(folder, path)).sort();
  const lines = excluded.map((path) => `      - ${path}\n`);
  return `  - directory: .\n${lines.length === 0 ? "" : `    exclude_paths:\n${lines.join("")}`}`;
}

function foldersOf(folder: string, path: string): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(".proto"))
    .map(({ name }) => `${path}/${name}`);
}

/** Whether each run may empty the output folder: it has no files of others. */
export function mayClean(folder: string): boolean {
  const out = join(folder, OUT);
  return !existsSync(out) || readdirSync(out).length === 0;
}
