import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the copies, relative to the repository. */
export const COPIES = "third_party/svc-access";

/** The folders that the annotation needs to compile; the IAM API is imported as a client, not copied. */
const COPIED = ["google", "svc/access"];

/** Relative to the root of a module. */
export const POLICY_PROTO = "svc/access/v1/policy.proto";
export const ANNOTATIONS_PROTO = "google/api/annotations.proto";

/**
 * The protos that a repository copies: `buf breaking` builds earlier commits, which need their
 * imports, but `node_modules` is not in git.
 *
 * @param withGoogle - whether to include those of `google/api`
 * @returns names relative to the module, and contents
 */
export function shippedProtos(withGoogle: boolean): readonly (readonly [string, string])[] {
  const root = join(packageFolder(), "proto");
  return COPIED.filter((folder) => withGoogle || folder !== "google").flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".proto"))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [relative(root, path).replaceAll(sep, "/"), readFileSync(path, "utf8")]),
  ) as [string, string][];
}

/** The folder of this package, above the running bundle or source. */
function packageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "proto", POLICY_PROTO))) return folder;
    if (dirname(folder) === folder) throw new Error("the package svc-access has no proto folder");
  }
}
