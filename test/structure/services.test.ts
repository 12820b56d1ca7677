/** The services of this repository are workspaces, which get this package as users do. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const SERVICES = globSync("services/*/package.json", { cwd: ROOT }).map((file) => {
  const manifest: Record<string, unknown> = JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  return { folder: join(ROOT, file, ".."), manifest };
});

describe.each(SERVICES)("$manifest.name", ({ folder, manifest }) => {
  test("is never published, and names the package by its path", () => {
    expect(manifest).toMatchObject({
      private: true,
      type: "module",
      engines: { node: ">=24" },
      dependencies: { "svc-access": "file:../.." },
    });
  });

  test.each([
    ["runtime", "dist/runtime.js"],
    ["testing", "dist/testing.js"],
  ])("imports svc-access/%s from the build", (entry, path) => {
    const program = `console.log(import.meta.resolve("svc-access/${entry}"))`;
    const { stdout, stderr } = runProgram("node", ["--input-type=module", "-e", program], {
      cwd: folder,
    });
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe(pathToFileURL(join(ROOT, path)).href);
  });
});

test("no file of a service is in the package", () => {
  const { files }: { files: string[] } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  expect(files.filter((name) => name.startsWith("services"))).toEqual([]);
});
