import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, posix } from "node:path";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { OutputFile } from "../emit/output-file.ts";

/**
 * Writes all files below a folder, or none of them.
 *
 * First, all files are written under temporary names; then they are moved. If a
 * move fails, it and the moves before it are undone.
 *
 * @throws UsageError if the folder cannot be written.
 */
export function writeFiles(folder: string, files: readonly OutputFile[]): void {
  for (const { name } of files) checkName(name);
  let staging: string | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    staging = mkdtempSync(join(folder, ".svc-access-"));
    for (const { name, content } of files) {
      const path = join(staging, "new", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    moveAll(folder, staging, files);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${folder} cannot be written, so no file was written: ${(error as Error).message}`,
    );
  } finally {
    if (staging !== undefined) rmSync(staging, { recursive: true, force: true });
  }
}

function moveAll(folder: string, staging: string, files: readonly OutputFile[]): void {
  const moved: { path: string; old: string | undefined }[] = [];
  try {
    for (const { name } of files) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      const before = statSync(path, { throwIfNoEntry: false });
      if (before?.isDirectory()) throw new Error(`${path} is a folder`);
      let old: string | undefined;
      if (before !== undefined) {
        old = join(staging, "old", name);
        mkdirSync(dirname(old), { recursive: true });
        renameSync(path, old);
      }
      moved.push({ path, old });
      renameSync(join(staging, "new", name), path);
    }
  } catch (error) {
    for (const { path, old } of moved.reverse()) {
      rmSync(path, { force: true });
      if (old !== undefined) renameSync(old, path);
    }
    throw error;
  }
}

/** Names come from proto files and services, and must not escape the folder. */
function checkName(name: string): void {
  if (isAbsolute(name) || posix.normalize(name) !== name || name.startsWith("../")) {
    throw new UsageError(`the output ${JSON.stringify(name)} would be outside the output folder`);
  }
}

/** A file of a folder that is not what would be generated. */
export interface Drift {
  /** Its path: the folder and its name. */
  readonly path: string;
  readonly state: "is missing" | "differs";
}

/**
 * Compares the files below a folder with what would be written there. Other files of the folder do not matter.
 *
 * @throws UsageError if one of them exists but cannot be read
 */
export function compareFiles(folder: string, files: readonly OutputFile[]): Drift[] {
  return files.flatMap(({ name, content }): Drift[] => {
    const path = join(folder, name);
    const found = readIfThere(path);
    if (found === undefined) return [{ path, state: "is missing" }];
    return found.equals(Buffer.from(content)) ? [] : [{ path, state: "differs" }];
  });
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${path} cannot be compared: ${message}`);
  }
}
