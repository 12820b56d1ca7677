import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

const ENTRIES = ["authz", "runtime", "runtime-registry", "testing"];

/** A Node on PATH that is older than services need. */
const old = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((path) => existsSync(path))
  .find((path) => {
    const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
    return Number.parseInt(stdout.slice(1), 10) < 24;
  });

test.each(ENTRIES)(
  "%s in an older Node.js first reports that services need Node 24 [PKG-1]",
  (name) => {
    // The version is what the entry sees; what it would load after that must not matter.
    const program = `
    Object.defineProperty(process.versions, "node", { value: "20.20.2" });
    process.on("exit", (code) => process.stdout.write(String(code)));
    await import(${JSON.stringify(join(ROOT, `dist/${name}.js`))});
    process.stdout.write("loaded");
  `;
    const args = ["--input-type=module", "--eval", program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stdout).toBe("2");
    expect(stderr).toMatch(
      /^svc-access: services need Node 24 or later, and this is Node 20\.20\.2 \([^)]+\); only the compiler runs on it\n$/,
    );
  },
);

test.skipIf(old === undefined)(
  "a real older Node.js gets the same error, without a stack trace (needs a Node before 24 on PATH)",
  () => {
    for (const name of ENTRIES) {
      const args = [
        "--input-type=module",
        "--eval",
        `import ${JSON.stringify(join(ROOT, `dist/${name}.js`))};`,
      ];
      const { status, stderr } = spawnSync(old as string, args, { encoding: "utf8" });
      expect(stderr).toMatch(/^svc-access: services need Node 24 or later[^\n]*\n$/);
      expect(status).toBe(2);
    }
  },
);
