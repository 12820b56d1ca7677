import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { COPIES } from "./shipped-protos.ts";
import type { Workspace } from "./workspace.ts";

const OUT = "gen";

/**
 * The `buf.gen.yaml` of a repository. What it makes runs on Node as it is: imports end in `.ts`, and
 * enums are objects, for Node strips types and makes nothing of them.
 *
 * @param isCleaned whether nothing but what is generated lies in the output folder
 */
export function bufGenYaml(inputs: string, isCleaned: boolean): string {
  return `version: v2
${isCleaned ? "clean: true\n" : ""}inputs:
${inputs}plugins:
  - local: protoc-gen-es
    out: ${OUT}
    include_imports: true
    opt:
      - target=ts
      - import_extension=ts
      - erasable_syntax=true
  - local: protoc-gen-svc-access
    out: ${OUT}
    strategy: all
    opt:
      - config=svc-access.yaml
      - import_extension=ts
`;
}

/**
 * The inputs: the one module, or the workspace but for what is imported, since a plugin is run once
 * for each input, and must see all of them at once.
 */
export function inputsOf(folder: string, { own, imported, annotation }: Workspace): string {
  const [first] = own;
  if (own.length === 1 && first !== ".") return `  - directory: ${first}\n`;
  const modules = [...imported, annotation ?? COPIES].filter((path) => !own.includes(path));
  // buf does not exclude a module by its own folder.
  const excluded = modules.flatMap((path) => foldersOf(folder, path)).sort();
  const lines = excluded.map((path) => `      - ${path}\n`);
  return `  - directory: .\n${lines.length === 0 ? "" : `    exclude_paths:\n${lines.join("")}`}`;
}

function foldersOf(folder: string, path: string): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(".proto"))
    .map(({ name }) => `${path}/${name}`);
}

/** Whether the output folder may be emptied at each run: nothing of somebody else's lies there. */
export function mayClean(folder: string): boolean {
  const out = join(folder, OUT);
  return !existsSync(out) || readdirSync(out).length === 0;
}
