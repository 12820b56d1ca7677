import { posix } from "node:path";
import { UsageError } from "../../../diagnostics/usage-error.ts";

/** The folder of the starter's own code. */
const SOURCE = "src";
const TESTS = "test";

/** The location of the code that `buf generate` makes. */
export interface GeneratedCode {
  /** Relative to the repository. */
  readonly folder: string;
  /** The import path in files of `src`. */
  readonly fromSource: string;
  /** The import path in files of `test`. */
  readonly fromTests: string;
}

/**
 * Locates the code in the output folder of `buf.gen.yaml`.
 *
 * @throws UsageError if the folder would contain the starter's own code, since buf may empty it,
 * or if its path is not valid in an import
 */
export function generatedCode(out: string): GeneratedCode {
  const folder = posix.normalize(out).replace(/(?<=.)\/$/, "");
  if (posix.isAbsolute(folder) || /["'`$\\\p{Cc}]/u.test(folder)) {
    throw refused(out, "is not a valid path in an import");
  }
  const holds = (other: string): boolean => !posix.relative(folder, other).startsWith("..");
  if (holds(SOURCE) || holds(TESTS)) {
    throw refused(out, `contains ${holds(SOURCE) ? SOURCE : TESTS}, which buf generate may empty`);
  }
  return { folder, fromSource: imported(SOURCE, folder), fromTests: imported(TESTS, folder) };
}

/** The folders that a compiler reads. */
export function sourceFolders({ folder }: GeneratedCode, hasTests: boolean): readonly string[] {
  const own = hasTests ? [SOURCE, TESTS] : [SOURCE];
  return own.some((other) => folder.startsWith(`${other}/`)) ? own : [folder, ...own];
}

function imported(from: string, folder: string): string {
  const path = posix.relative(from, folder);
  return path.startsWith(".") ? path : `./${path}`;
}

function refused(out: string, why: string): UsageError {
  return new UsageError(
    `out: ${out} of buf.gen.yaml ${why}: generate into a separate folder, such as out: gen, then run init again`,
  );
}
