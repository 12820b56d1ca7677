import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modulePaths } from "../../src/compiler/module-paths.ts";
import { Workspace } from "../support/workspace.ts";

const BUF = `version: v2
modules:
  - path: proto
    name: buf.build/a/b
  - path: "vendor/x" # copied
    excludes: [vendor/x/old]
  - name: buf.build/a/c
    path: 'other'
`;
const FLOW = "version: v2\nmodules: [{path: proto}, {path: vendor/x, name: a}, {path: 'other'}]\n";

test.each([
  ["a/v1/a.proto", "proto/a/v1/a.proto"],
  ["b/v1/b.proto", "vendor/x/b/v1/b.proto"],
  ["c/v1/c.proto", "other/c/v1/c.proto"],
  ["both.proto", "both.proto"],
  ["absent.proto", "absent.proto"],
  ["nul\u0000.proto", "nul\u0000.proto"],
])("%j has the path %j", (name, path) => {
  using workspace = new Workspace({});
  for (const path of [
    "proto/a/v1/a.proto",
    "vendor/x/b/v1/b.proto",
    "other/c/v1/c.proto",
    "proto/both.proto",
    "other/both.proto",
  ]) {
    workspace.write(path, "");
  }
  for (const text of [BUF, FLOW]) {
    workspace.write("buf.yaml", text);
    expect(modulePaths(workspace.folder)(name)).toBe(path);
  }
});

test("without a buf.yaml a name stays as it is", () => {
  using workspace = new Workspace({ "a.proto": "" });
  rmSync(join(workspace.folder, "buf.yaml"));
  expect(modulePaths(workspace.folder)("a.proto")).toBe("a.proto");
});
