import { posix } from "node:path";

/** A service of this repository: its files, each with what it imports, as written. */
export interface ServiceImports {
  /** Its folder, such as `services/iam`. */
  readonly folder: string;
  /** By path from the root. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** The packages of its `dependencies`. */
  readonly packages: readonly string[];
  /** Those of its `devDependencies`, for its tests. */
  readonly testPackages?: readonly string[];
}

/** What the tests of services share with those of this package. */
const TEST_SUPPORT = "test/support/";

/**
 * The imports of a service that a service in a repository of its own could not have: of other files
 * of this one, of subpaths that `svc-access` does not export, and of packages that it does not name.
 *
 * @param entries - what programs may import of this package: `svc-access/runtime`
 */
export function findServiceProblems(
  { folder, imports, packages, testPackages = [] }: ServiceImports,
  entries: readonly string[],
): string[] {
  const reasonOf = (file: string, name: string): string | undefined => {
    const isTest = file.startsWith(`${folder}/test/`);
    if (name.startsWith(".")) {
      const target = posix.join(posix.dirname(file), name);
      if (target.startsWith(`${folder}/`)) return undefined;
      if (isTest && target.startsWith(TEST_SUPPORT)) return undefined;
      return `a service imports its own files, and ${entries.join(", ")}`;
    }
    if (name.startsWith("node:") || entries.includes(name)) return undefined;
    const owner = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
    if (owner === "svc-access") return `svc-access exports ${entries.join(", ")}`;
    const known = isTest ? [...packages, ...testPackages, "vitest"] : packages;
    if (known.includes(owner)) return undefined;
    return `${owner} is not in the dependencies of ${folder}/package.json`;
  };
  return [...imports].flatMap(([file, names]) =>
    names.flatMap((name) => {
      const reason = reasonOf(file, name);
      return reason === undefined ? [] : [`${file} imports ${name}: ${reason}`];
    }),
  );
}

/** The files of a service that are imported by relative paths, each with those that it imports. */
export function ownImports({ imports }: ServiceImports): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...imports].map(([file, names]) => [
      file,
      names
        .filter((name) => name.startsWith("."))
        .map((name) => posix.join(posix.dirname(file), name)),
    ]),
  );
}
