import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** The maximum number of entries to search: a larger repository has a `buf.yaml`. */
const MAX_ENTRIES = 50_000;
/** The size of the part of a proto that is searched for its package. */
const HEAD_BYTES = 64 * 1024;

/** Folders without sources of the repository. */
const SKIPPED = new Set(["node_modules", "dist", "build", "target"]);

/** Packages whose protos are always imported, never a repository's own. */
const IMPORTED = /^(?:google|svc\.access|svc\.iam)\./;

/** A folder to which the import paths of protos are relative. */
export interface FoundModule {
  /** Relative to the repository; `.` for the repository itself. */
  readonly path: string;
  /** Whether it has only protos to import: Google's and the annotation. */
  readonly isImported: boolean;
}

/**
 * Finds the modules of a repository without `buf.yaml`: a proto of the package `a.b.v1` in `api/a/b/v1`
 * belongs to the module `api`; any other proto belongs to the first folder of its path.
 */
export function findModules(folder: string): readonly FoundModule[] {
  const modules = new Map<string, boolean>();
  for (const file of protosBelow(folder)) {
    const parents = file.split("/").slice(0, -1);
    const name = packageOf(join(folder, file));
    const parts = name === "" ? [] : name.split(".");
    const depth = parents.length - parts.length;
    const fits = name !== "" && depth >= 0 && parents.slice(depth).join(".") === name;
    const path = (fits ? parents.slice(0, depth) : parents.slice(0, 1)).join("/") || ".";
    modules.set(path, (modules.get(path) ?? true) && IMPORTED.test(name));
  }
  return [...modules]
    .map(([path, isImported]) => ({ path, isImported }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function* protosBelow(folder: string): Iterable<string> {
  const waiting = [""];
  let seen = 0;
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    for (const entry of readdirSync(join(folder, place), { withFileTypes: true })) {
      if (++seen > MAX_ENTRIES) return;
      const path = place === "" ? entry.name : `${place}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!entry.name.startsWith(".") && !SKIPPED.has(entry.name)) waiting.push(path);
      } else if (entry.isFile() && entry.name.endsWith(".proto")) {
        yield path;
      }
    }
  }
}

function packageOf(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const text = head.toString("utf8", 0, readSync(descriptor, head));
    return /^\s*package\s+([\w.]+)\s*;/m.exec(text)?.[1] ?? "";
  } finally {
    closeSync(descriptor);
  }
}
