import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { readEntries } from "./scripts/entries.ts";
import { productionStackFiles } from "./services/iam/test/support/production-stack-files.ts";
import { PATIENCE } from "./test/support/patience.ts";

// The code of the processes that tests start, compiled: most of them do little else.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "svc-access-compiled");

/** What generated code and services import: the sources that are tested, and not a build of them beside these. */
const ENTRIES = readEntries(import.meta.dirname).map(({ name, source }) => ({
  find: new RegExp(`^${name}$`),
  replacement: join(import.meta.dirname, source),
}));

export default defineConfig({
  resolve: { alias: ENTRIES },
  test: {
    include: productionStackFiles(import.meta.dirname) ?? [
      "test/**/*.test.ts",
      "services/*/test/**/*.test.ts",
    ],
    globalSetup: ["test/support/build.ts", "services/iam/test/support/stack-servers.ts"],
    reporters: ["default", "./test/support/left-out-reporter.ts"],
    // Bounds on waiting for what never comes; a slow machine is far below them.
    testTimeout: PATIENCE + 30_000,
    hookTimeout: 2 * PATIENCE,
    expect: { poll: { timeout: PATIENCE } },
    // Most of the time of a file would go into loading the same modules again. A test that
    // registers something for its process takes it back.
    isolate: false,
    // Workers live long, with many modules: with larger young generations V8 collects garbage less often.
    execArgv: ["--max-semi-space-size=32"],
    // Two cores, and tests of faults and limits that mostly wait; each worker loads all modules once.
    maxWorkers: 4,
  },
});
