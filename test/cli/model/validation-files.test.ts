import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { runSvcAccess } from "../../support/svc-access.ts";
import { ROOT } from "../../support/workspace.ts";

/** Runs the validation files of a folder. */
function runFiles(...args: string[]) {
  const { status, stdout, stderr } = runSvcAccess(["model", "test", ...args], {
    cwd: ROOT,
  });
  return { status, stdout, stderr };
}

function filesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join(folder, name));
}

test("the model is that of the platform, and the files cover each of its permissions [MODEL-6, MODEL-2]", () => {
  const files = filesOf(join(ROOT, "testdata/model"));
  const outcome = runFiles("--min-coverage", "100", "--format", "json", ...files);
  expect(outcome.stderr).toBe("");
  const { files: results, failed, notRun, coverage } = JSON.parse(outcome.stdout);
  for (const { file, failures, passed } of results) {
    expect({ file, failures }).toEqual({ file, failures: [] });
    expect(passed).toBeGreaterThan(0);
  }
  expect(failed).toBe(0);
  expect(notRun).toEqual([]);
  expect(coverage).toMatchObject([{ model: "model/iam.zed", percent: 100, missing: [] }]);
  expect(outcome.status).toBe(0);
});

const shared = resolve(ROOT, process.env["SVC_ACCESS_SHARED"] ?? "../shared");
const folder = join(shared, "corpora/spicedb");

if (existsSync(folder)) {
  describe("each of SpiceDB's validation files passes", () => {
    test.each(filesOf(folder))("%s", (file) => {
      const { status, stdout, stderr } = runFiles(file);
      expect(`${stdout}${stderr}`).toMatch(/: \d+ passed, 0 failed\n$/);
      expect(status).toBe(0);
    });
  });
} else {
  const missing = `SpiceDB's validation files are not at ${folder}; set SVC_ACCESS_SHARED to the folder that holds corpora/`;
  console.warn(`NOT TESTED: ${missing}`);
  if (process.env["CI"] === "true") {
    test("SpiceDB's validation files are present", () => {
      throw new Error(missing);
    });
  } else {
    test.skip(`SpiceDB's validation files: ${missing}`, () => {});
  }
}
