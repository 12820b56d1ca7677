import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildSync } from "esbuild";
import { ROOT, RUN_FOLDER } from "./workspace.ts";

/**
 * It is two folders below the root, as `test/support` is, so that `ROOT` is the same there; and the same in each
 * run, so that Node.js finds the compiled code of the last one.
 */
const FOLDER = join(ROOT, "node_modules/.test-scripts");

/**
 * A script of the tests with all its sources and packages as one file, since loading its modules would take most
 * of the time of a short process. The first file of a run that needs it makes it. Addresses relative to a module
 * are others there, except `ROOT`.
 *
 * @param source the path of the script, whose name is that of no other script
 * @returns the path of the file
 */
export function bundledScript(source: string): string {
  const run = process.env[RUN_FOLDER];
  if (run === undefined) throw new Error("the tests run without their global setup");
  const name = basename(source, ".ts");
  const script = join(FOLDER, `${name}.mjs`);
  const isMade = join(run, `${name}.made`);
  if (existsSync(isMade)) return script;
  mkdirSync(FOLDER, { recursive: true });
  const made = `${script}.${process.pid}`;
  buildSync({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile: made,
    bundle: true,
    platform: "node",
    format: "esm",
    // Few scripts use these clients, whose protos are files beside them; pg-native is not installed.
    external: ["@authzed/authzed-node", "etcd3", "pg-native"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  // Other files of tests must not start an incomplete one.
  renameSync(made, script);
  writeFileSync(isMade, "");
  return script;
}
