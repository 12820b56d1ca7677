/** A run that sees a part of the module is told apart from one of a module with one folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TARGETS } from "../../src/compiler/generate.ts";
import { checkStrategy } from "../../src/plugin/strategy.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-strategy-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const entry = (strategy: string) => `version: v2
plugins:
  - local: protoc-gen-es
    strategy: all
    out: gen
  - local: protoc-gen-svc-access
    out: gen
${strategy}`;

const annotated = "option (svc.access.v1.policy).exposure = PUBLIC;";

test("another folder of annotated protos, without strategy: all, is refused", () => {
  write("buf.gen.yaml", entry(""));
  write("proto/a/v1/a.proto", annotated);
  write("proto/b/v1/b.proto", annotated);
  expect(() => checkStrategy(["a/v1/a.proto"], TARGETS, folder)).toThrow(
    "it sees a/v1 without proto/b/v1/b.proto; write strategy: all",
  );
});

test.each([
  ["strategy: all is written", "    strategy: all\n", ["a/v1/a.proto"], TARGETS],
  ["the request has files of both folders", "", ["a/v1/a.proto", "b/v1/b.proto"], TARGETS],
  ["no output spans files", "", ["a/v1/a.proto"], ["server"] as const],
])("nothing is said where %s", (_, strategy, files, targets) => {
  write("buf.gen.yaml", entry(strategy));
  write("proto/a/v1/a.proto", annotated);
  write("proto/b/v1/b.proto", annotated);
  expect(() => checkStrategy(files, targets, folder)).not.toThrow();
});

test("nothing is said where there is only one folder, or no template to read", () => {
  write("proto/a/v1/a.proto", annotated);
  write("proto/a/v1/other.proto", annotated);
  write("node_modules/x/b.proto", annotated);
  expect(() => checkStrategy(["a/v1/a.proto"], TARGETS, folder)).not.toThrow();
  write("buf.gen.yaml", entry(""));
  expect(() => checkStrategy(["a/v1/a.proto"], TARGETS, folder)).not.toThrow();
});
