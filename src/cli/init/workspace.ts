import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { type Document, isMap, parseDocument } from "yaml";
import { UsageError } from "../../diagnostics/usage-error.ts";
import { ANNOTATIONS_PROTO, POLICY_PROTO } from "./shipped-protos.ts";

/** The buf workspace that `init` finds in a repository. */
export interface Workspace {
  /** The existing `buf.yaml`. */
  readonly bufYaml: Document | undefined;
  /** The modules of the repository's own protos, relative to it; at least one. */
  readonly own: readonly string[];
  /** Modules that are only imported, without that of the annotation. */
  readonly imported: readonly string[];
  /** The module that already has the annotation. */
  readonly annotation: string | undefined;
  /** Whether `google/api/annotations.proto` comes from another module. */
  readonly hasGoogle: boolean;
}

const NEW_MODULE = "proto";

/**
 * Reads the workspace of a repository.
 *
 * @throws UsageError if a buf file cannot be read, or its version has no plugins
 */
export function readWorkspace(folder: string, flags: { readonly googleapis: boolean }): Workspace {
  const bufYaml = readBufYaml(folder);
  const modules = bufYaml === undefined ? findModules(folder) : modulesOf(bufYaml, folder);
  const holds = (path: string, proto: string): boolean => existsSync(join(folder, path, proto));
  const annotation = modules.find(({ path }) => holds(path, POLICY_PROTO))?.path;
  // A module that also has the user's own protos belongs to the user.
  const others = modules.filter(({ path, isImported }) => path !== annotation || !isImported);
  const own = others.filter(({ isImported }) => !isImported).map(({ path }) => path);
  const google = others.some(({ path }) => holds(path, ANNOTATIONS_PROTO));
  return {
    bufYaml,
    own: own.length === 0 ? [NEW_MODULE] : own,
    imported: others.filter(({ isImported }) => isImported).map(({ path }) => path),
    annotation,
    hasGoogle: flags.googleapis || google || dependsOnGoogle(bufYaml),
  };
}

function readBufYaml(folder: string): Document | undefined {
  if (existsSync(join(folder, "buf.work.yaml"))) throw ofOldVersion("buf.work.yaml");
  const path = join(folder, "buf.yaml");
  if (!existsSync(path)) return undefined;
  const document = parseDocument(readFileSync(path, "utf8"));
  const [error] = document.errors;
  if (error !== undefined) throw new UsageError(`${path} cannot be read: ${error.message}`);
  if (!isMap(document.contents)) throw new UsageError(`${path} is not a map: write version: v2`);
  if (document.get("version") !== "v2") throw ofOldVersion("buf.yaml");
  return document;
}

function ofOldVersion(name: string): UsageError {
  return new UsageError(
    `${name} does not have version v2, which plugins need: run npx buf config migrate, then init again`,
  );
}

/** A `buf.yaml` without modules has a single one, the whole folder. */
function modulesOf(document: Document, folder: string): readonly FoundModule[] {
  const { modules } = document.toJS() as { modules?: unknown };
  const paths = (Array.isArray(modules) ? modules : [{ path: "." }])
    .map((module) => (module as { path?: unknown } | null)?.path ?? ".")
    .filter((path) => typeof path === "string")
    .map(tidy);
  return paths.map((path) => {
    const isInstalled = path.split("/").includes("node_modules");
    return { path, isImported: isInstalled || holdsOnlyImports(join(folder, path)) };
  });
}

/** Whether a folder has protos of Google and of the annotation, and no others. */
function holdsOnlyImports(folder: string): boolean {
  const modules = existsSync(folder) ? findModules(folder) : [];
  return modules.length > 0 && modules.every(({ isImported }) => isImported);
}

function tidy(path: string): string {
  return path.replace(/^\.\/(?=.)/, "").replace(/(?<=.)\/$/, "");
}

function dependsOnGoogle(document: Document | undefined): boolean {
  const deps: unknown = document?.toJS()?.deps;
  return (
    Array.isArray(deps) && deps.some((name) => /(?:^|\/)googleapis\/googleapis\b/.test(`${name}`))
  );
}

/** The maximum number of entries to search: a larger repository has a `buf.yaml`. */
const MAX_ENTRIES = 50_000;
/** The size of the part of a proto that is searched for its package. */
const HEAD_BYTES = 64 * 1024;

/** Folders without sources of the repository. */
const SKIPPED = new Set(["node_modules", "dist", "build", "target"]);

/** Packages whose protos are always imported, never a repository's own. */
const IMPORTED = /^(?:google|svc\.access|svc\.iam)\./;

/** A folder to which the import paths of protos are relative. */
interface FoundModule {
  /** Relative to the repository; `.` for the repository itself. */
  readonly path: string;
  /** Whether it has only protos to import: Google's and the annotation. */
  readonly isImported: boolean;
}

/**
 * Finds the modules of a repository without `buf.yaml`: a proto of the package `a.b.v1` in `api/a/b/v1`
 * belongs to the module `api`; any other proto belongs to the first folder of its path.
 */
function findModules(folder: string): readonly FoundModule[] {
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
