/** The public entries of the package are the same in all files that list them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Entry, readEntries } from "../../scripts/entries.ts";
import { RULES } from "../../scripts/layers/layers.ts";
import { ROOT } from "../support/workspace.ts";

const entries = readEntries(ROOT);

test("each entry has its types, in a file of the same name, and a layer", () => {
  expect(entries.map(({ name }) => name)).toContain("svc-access/runtime");
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const { name, source, file } of entries) {
    expect(exports[name.replace("svc-access", ".")], name).toEqual({
      types: `./dist/types/${file}.d.ts`,
      default: `./dist/${file}.js`,
    });
    const [, layer = "", ...rest] = source.split("/");
    if (rest.length > 0) expect(Object.keys(RULES.layers)).toContain(layer);
  }
});

test("declarations are made of each entry, and the runtime, and of nothing else", () => {
  const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.declarations.json"), "utf8"));
  const covers = (path: string, { source }: Entry) =>
    path === source || matchesGlob(source, `${path}/**`);
  for (const entry of entries) {
    expect(
      include.some((path: string) => covers(path, entry)),
      entry.source,
    ).toBe(true);
  }
  for (const path of include as string[]) {
    expect(
      entries.some((entry) => covers(path, entry)),
      path,
    ).toBe(true);
  }
});

test.each([
  [{ "svc-access/a": ["./src/a.ts"] }, "tsconfig.json has no path of svc-access/b: add it"],
  [
    { "svc-access/b": ["./src/b.ts"], "svc-access/a": ["./src/a.ts"] },
    "package.json does not export svc-access/a, a path of tsconfig.json: add it",
  ],
])("a difference is an error: %j", (paths, message) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-entries-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const exports = { "./b": { types: "./dist/types/b.d.ts", default: "./dist/b.js" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ exports }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { paths } }));
  expect(() => readEntries(folder)).toThrow(message);
});
