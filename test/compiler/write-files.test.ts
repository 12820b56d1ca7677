import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFiles } from "../../src/compiler/output-folder.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-write-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("all files are written, and existing ones replaced", () => {
  writeFileSync(join(folder, "a.json"), "old");
  writeFiles(folder, [
    { name: "a.json", content: "new" },
    { name: "deep/er/b.json", content: "b" },
  ]);
  expect(readFileSync(join(folder, "a.json"), "utf8")).toBe("new");
  expect(readFileSync(join(folder, "deep/er/b.json"), "utf8")).toBe("b");
  expect(readdirSync(folder).sort()).toEqual(["a.json", "deep"]);
});

test("if one file cannot be written, all others are undone", () => {
  writeFileSync(join(folder, "a.json"), "old");
  mkdirSync(join(folder, "z.json"));
  expect(() =>
    writeFiles(folder, [
      { name: "a.json", content: "new" },
      { name: "b.json", content: "b" },
      { name: "z.json", content: "z" },
    ]),
  ).toThrow("cannot be written, so no file was written");
  expect(readFileSync(join(folder, "a.json"), "utf8")).toBe("old");
  expect(readdirSync(folder).sort()).toEqual(["a.json", "z.json"]);
});

test.each(["../a", "/a", "a/../../b", "a//b", "./a"])("the name %s is refused", (name) => {
  expect(() => writeFiles(join(folder, "out"), [{ name, content: "" }])).toThrow(
    "outside the output folder",
  );
  expect(readdirSync(folder)).toEqual([]);
});
