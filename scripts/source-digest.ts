/** What the build of a checkout depends on, so that it is left out where nothing of that has changed. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The files and folders that the build reads; the lock file is for the packages that it bundles. */
const SOURCES = [
  "package.json",
  "package-lock.json",
  "scripts/build.ts",
  "scripts/entries.ts",
  "src",
  "tsconfig.declarations.json",
  "tsconfig.json",
];

/** In `dist`, the digest of what it was built from; it is not published. */
const BUILT_FROM = ".built-from";

/** Whether `dist` was built from the present sources. */
export function isBuilt(root: string): boolean {
  const path = join(root, "dist", BUILT_FROM);
  return existsSync(path) && readFileSync(path, "utf8") === sourceDigest(root);
}

/** Notes in a folder the sources of which it was built; to be called with the digest of before the build. */
export function noteSources(folder: string, digest: string): void {
  writeFileSync(join(folder, BUILT_FROM), digest);
}

/** A digest of all that the build reads. */
export function sourceDigest(root: string): string {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap((source) => filesOf(root, source))) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

function filesOf(root: string, path: string): string[] {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}
