import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { OutputFile } from "../emit/output-file.ts";

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
