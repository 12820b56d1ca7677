import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROCEDURE } from "../../src/plugin/check-constants.ts";
import { environmentOf } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const ENTRIES = ["authz", "database", "iam", "runtime", "runtime-registry", "testing"];

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

describe("a program in an older Node.js reports the version that it needs, in one line", () => {
  const CHECK = [PROCEDURE.check, "--format", "binary"];
  const inNode = (name: string) => [process.execPath, join(ROOT, "bin", name)] as const;
  const asProgram = (name: string) => [join(ROOT, "bin", name)] as const;
  test.each([
    ["svc-access", inNode("svc-access"), ["--version"]],
    ["protoc-gen-svc-access", inNode("protoc-gen-svc-access"), []],
    ["the check plugin, as npm starts it", asProgram("buf-plugin-svc-access"), CHECK],
    ["the check plugin, as Yarn starts it", inNode("buf-plugin-svc-access"), CHECK],
  ])("%s", (_, [command, ...first], args) => {
    const run = (version: string) => {
      const preload = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
      const env = {
        NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(preload)}"`,
      };
      return spawnSync(command, [...first, ...args], {
        encoding: "utf8",
        input: "",
        env: environmentOf({ env }),
      });
    };
    const { status, stdout, stderr } = run("20.11.1");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(
      `svc-access needs Node 20.12 or later, and this is Node 20.11.1 (${process.execPath})\n`,
    );
    expect(run("20.12.0").stderr).not.toContain("needs Node");
  });

  test("which is that of the package", () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(engines.node).toBe(">=20.12");
  });
});

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
