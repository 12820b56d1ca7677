import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Any `path` in `buf.yaml`: one that is not a module has no such file below it. */
const MODULE = /\bpath:[ \t]*["']?([^"'#,}\r\n]*[^"'#,}\s])/g;

/**
 * The path of a proto from the folder of a buf workspace, as buf and `svc-access lint` print it. A plugin
 * gets only its name, which is relative to a module, and no list of modules.
 *
 * @param folder - the working directory, which has the `buf.yaml`
 * @returns the name itself where not exactly one module has the file
 */
export function modulePaths(folder: string): (name: string) => string {
  let modules: readonly string[] | undefined;
  return (name) => {
    modules ??= readModules(folder);
    const [module, ...others] = modules.filter((each) => existsSync(join(folder, each, name)));
    return module === undefined || others.length > 0 ? name : posix.join(module, name);
  };
}

/** Not with a YAML parser, which would slow every start: paths that are not modules do no harm. */
function readModules(folder: string): string[] {
  try {
    const text = readFileSync(join(folder, "buf.yaml"), "utf8");
    return [...new Set([...text.matchAll(MODULE)].map(([, path = ""]) => path))];
  } catch {
    return [];
  }
}
