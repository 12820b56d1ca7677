import {
  closeSync,
  type Dirent,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../diagnostics/usage-error.ts";
import { GENERATED_YAML, type OutputFile } from "../emit/output-file.ts";

/** The folder of the gateway's files below the output folder. */
const GATEWAY = "gateway";
/** The gateway's files are at most this many folders below it. */
const MAX_DEPTH = 3;

/**
 * The files of the edge that an earlier run generated below a folder, and this one does not, such as
 * those of a removed frontend: applied with the others, they would keep its routes.
 *
 * Only the target `gateway` covers a whole platform, so only its files can be known as stale; other
 * outputs may be of another run. A file counts only if it begins as every generated one does.
 *
 * @param files - what this run generates; without a file of the edge, nothing is stale
 * @returns their names below the folder, sorted
 * @throws UsageError if one of the folders or files cannot be read
 */
export function staleFiles(folder: string, files: readonly OutputFile[]): string[] {
  const current = new Set(files.map(({ name }) => name));
  if (!files.some(({ name }) => name.startsWith(`${GATEWAY}/`))) return [];
  try {
    return [...yamlBelow(folder, GATEWAY, MAX_DEPTH)]
      .filter((name) => !current.has(name) && isGenerated(join(folder, name)))
      .sort();
  } catch (error) {
    throw new UsageError(
      `${join(folder, GATEWAY)} cannot be searched for files that are no longer generated: ${(error as Error).message}`,
    );
  }
}

/**
 * Removes stale files, and the folders that this leaves empty.
 *
 * @throws UsageError if one cannot be removed
 */
export function removeFiles(folder: string, names: readonly string[]): void {
  for (const name of names) {
    try {
      rmSync(join(folder, name));
    } catch (error) {
      throw new UsageError(
        `${join(folder, name)} is no longer generated and cannot be removed: remove it yourself (${(error as Error).message})`,
      );
    }
    removeEmpty(join(folder, dirname(name)));
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It has other files.
  }
}

/** Links are not followed: they may lead out of the folder. */
function* yamlBelow(folder: string, below: string, depth: number): Iterable<string> {
  for (const entry of entriesOf(join(folder, below))) {
    const name = `${below}/${entry.name}`;
    if (entry.isDirectory() && depth > 0) yield* yamlBelow(folder, name, depth - 1);
    else if (entry.isFile() && entry.name.endsWith(".yaml")) yield name;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

function isGenerated(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(GENERATED_YAML.length);
    const length = readSync(file, start, 0, start.length, 0);
    return start.toString("latin1", 0, length) === GENERATED_YAML;
  } finally {
    closeSync(file);
  }
}
