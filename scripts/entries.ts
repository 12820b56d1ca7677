import { readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";

/** What programs import of this package. */
export interface Entry {
  /** `svc-access/runtime`. */
  readonly name: string;
  /** `src/runtime/index.ts`. */
  readonly source: string;
  /** The name of its files in `dist` and `dist/types`, without an extension. */
  readonly file: string;
}

interface Exported {
  readonly types: string;
  readonly default: string;
}

/**
 * The entries of the package: `exports` of package.json, whose sources are `paths` of tsconfig.json.
 *
 * @throws Error if one of the files has an entry that the other lacks
 */
export function readEntries(root: string): readonly Entry[] {
  const json = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8"));
  const exported = Object.entries<Exported | string>(json("package.json").exports);
  const paths: Record<string, readonly string[]> = json("tsconfig.json").compilerOptions.paths;
  const entries = exported.flatMap(([path, files]): Entry[] => {
    if (typeof files === "string") return [];
    const name = posix.join("svc-access", path);
    const source = paths[name]?.[0];
    if (source === undefined) throw new Error(`tsconfig.json has no path of ${name}: add it`);
    return [{ name, source: posix.normalize(source), file: basename(files.default, ".js") }];
  });
  for (const name of Object.keys(paths)) {
    if (entries.some((entry) => entry.name === name)) continue;
    throw new Error(`package.json does not export ${name}, a path of tsconfig.json: add it`);
  }
  return entries;
}
