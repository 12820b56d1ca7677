/** Fails if a folder of `src` imports upwards, imports form a cycle, or a folder is too large. */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findProblems } from "./layers/find-problems.ts";
import { RULES } from "./layers/layers.ts";

const root = join(import.meta.dirname, "..");
const RELATIVE_IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"(\.{1,2}\/[^"]+)"/g;

const files = globSync("src/**/*.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .sort();
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const messages = findProblems(imports, RULES);
for (const message of messages) console.error(message);
if (messages.length > 0) process.exitCode = 1;

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = [...text.matchAll(RELATIVE_IMPORT)].map(([, path = ""]) =>
    posix.join(posix.dirname(file), path),
  );
  return [...new Set(found)];
}
