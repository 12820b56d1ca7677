import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { STACK } from "./stack-variable.ts";

/** What starts a whole service, or opens a database, on the stack of the run. */
const SUPPORT =
  /\bstackDatabase\b|from "[./]+\/support\/(?:browser-login|casdoor\/iam-with-casdoor|command-line|iam-service|permissions|provider-server|stack|two-services)\.ts"/;

/** Those of replicas, which are on PostgreSQL and SpiceDB in every run, and of a full disk, which is SQLite's. */
const OWN_STACK = "services/iam/test/resilience/";

/** The files of a run of the tests on the production stack; undefined in a run of all of them. */
export function productionStackFiles(root: string): string[] | undefined {
  if ((process.env[STACK] ?? "") !== "production") return undefined;
  return globSync("services/iam/test/**/*.test.ts", { cwd: root }).filter(
    (file) => !file.startsWith(OWN_STACK) && SUPPORT.test(readFileSync(join(root, file), "utf8")),
  );
}
