import { posix } from "node:path";
import { UsageError } from "../../../diagnostics/usage-error.ts";

/** Where the starter's own code is. */
const SOURCE = "src";
const TESTS = "test";

/** Where a service finds the code that `buf generate` makes. */
export interface GeneratedCode {
  /** Relative to the repository. */
  readonly folder: string;
  /** As a file of `src` imports it. */
  readonly fromSource: string;
  /** As a file of `test` imports it. */
  readonly fromTests: string;
}

/**
 * The code in the folder that `buf.gen.yaml` names.
 *
 * @throws UsageError where the starter's own code would be in that folder, which buf may empty, or
 * where an import cannot name it
 */
export function generatedCode(out: string): GeneratedCode {
  const folder = posix.normalize(out).replace(/(?<=.)\/$/, "");
  if (posix.isAbsolute(folder) || /["'`$\\\p{Cc}]/u.test(folder)) {
    throw refused(out, "is not a folder that an import can name");
  }
  const holds = (other: string): boolean => !posix.relative(folder, other).startsWith("..");
  if (holds(SOURCE) || holds(TESTS)) {
    throw refused(out, `holds ${holds(SOURCE) ? SOURCE : TESTS}, which buf generate may empty`);
  }
  return { folder, fromSource: imported(SOURCE, folder), fromTests: imported(TESTS, folder) };
}

/** What a compiler looks at. */
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
    `out: ${out} of buf.gen.yaml ${why}: generate into a folder of its own, such as out: gen, then init again`,
  );
}
