import { describe, expect, test } from "vitest";
import { findProblems, type LayerRules } from "../../scripts/layers/find-problems.ts";
import { findServiceProblems, ownImports } from "../../scripts/layers/service-imports.ts";

const rules: LayerRules = {
  layers: { low: [], high: ["low"], beside: ["low"], stack: [], clients: ["low", "high"] },
  generated: { layer: "clients", files: /_client\.ts$/ },
  lines: { "src/stack": [["top"], ["left", "right"], ["ground"]] },
  mostFiles: 2,
  listFolders: ["src/list"],
};

const problemsOf = (files: Record<string, readonly string[]>) =>
  findProblems(new Map(Object.entries(files)), rules);

const MOVE = "move what they share into a file or folder below them";
const NOT_BELOW = "which is not on a line below: move the code that it needs down";

describe("what is wrong [COMP-9]", () => {
  test.each<[string, Record<string, readonly string[]>, string[]]>([
    [
      "an import upwards",
      { "src/low/a.ts": ["src/high/b.ts"] },
      ["src/low/a.ts imports src/high/b.ts: low may not import high"],
    ],
    [
      "an import of the other side",
      { "src/high/deep/a.ts": ["src/beside/b.ts"] },
      ["src/high/deep/a.ts imports src/beside/b.ts: high may not import beside"],
    ],
    [
      "an import of generated clients from below them",
      { "src/high/a.ts": ["src/low/b_client.ts"] },
      ["src/high/a.ts imports src/low/b_client.ts: high may not import clients"],
    ],
    [
      "an import upwards beside generated clients",
      { "src/low/b_pb.ts": ["src/high/a.ts"] },
      ["src/low/b_pb.ts imports src/high/a.ts: low may not import high"],
    ],
    [
      "an import of a line above",
      { "src/stack/ground/a.ts": ["src/stack/left/b.ts"] },
      [`src/stack/ground/a.ts imports src/stack/left/b.ts, ${NOT_BELOW}`],
    ],
    [
      "an import of a neighbour on the same line",
      { "src/stack/left/deep/a.ts": ["src/stack/right/b.ts"] },
      [`src/stack/left/deep/a.ts imports src/stack/right/b.ts, ${NOT_BELOW}`],
    ],
    [
      "an import of what stands above all lines",
      { "src/stack/left/a.ts": ["src/stack/index.ts"] },
      [`src/stack/left/a.ts imports src/stack/index.ts, ${NOT_BELOW}`],
    ],
    [
      "a folder on no line",
      { "src/stack/new/a.ts": [] },
      ["src/stack/new is not in a line: add it to one"],
    ],
    [
      "a folder that no rule knows",
      { "src/new/a.ts": [] },
      ["src/new is not in the list of layers: add it with the folders that it may import"],
    ],
    [
      "files that import each other",
      { "src/low/a.ts": ["src/low/b.ts"], "src/low/b.ts": ["src/low/a.ts"] },
      [`src/low/a.ts, src/low/b.ts import each other: ${MOVE}`],
    ],
    [
      "a file that imports itself",
      { "src/low/a.ts": ["src/low/a.ts"] },
      [`src/low/a.ts import each other: ${MOVE}`],
    ],
    [
      "folders that import each other, by other files",
      {
        "src/low/a.ts": ["src/low/x/b.ts"],
        "src/low/x/b.ts": ["src/low/y/d.ts"],
        "src/low/y/c.ts": [],
        "src/low/y/d.ts": ["src/low/e.ts"],
      },
      [`the folders src/low, src/low/x, src/low/y import each other: ${MOVE}`],
    ],
    [
      "a folder with too many files",
      { "src/low/a.ts": [], "src/low/b.ts": [], "src/low/c.ts": [] },
      ["src/low has 3 files; the limit is 2: divide it"],
    ],
  ])("%s", (_, files, problems) => {
    expect(problemsOf(files)).toEqual(problems);
  });
});

test("what is right", () => {
  expect(
    problemsOf({
      "src/index.ts": ["src/high/a.ts"],
      "src/high/a.ts": ["src/low/index.ts", "src/high/x/b.ts"],
      "src/high/x/b.ts": ["src/low/y/c.ts"],
      "src/low/index.ts": ["src/low/x/a.ts", "src/low/y/c.ts"],
      "src/low/x/a.ts": ["src/low/y/c.ts"],
      "src/low/y/c_client.ts": ["src/high/a.ts", "src/low/y/c.ts"],
      "src/low/y/c.ts": [],
      "src/stack/index.ts": ["src/stack/top/a.ts", "src/stack/ground/c.ts"],
      "src/stack/top/a.ts": ["src/stack/left/b.ts", "src/stack/ground/c.ts"],
      "src/stack/left/b.ts": ["src/stack/left/deep/d.ts", "src/stack/ground/c.ts"],
      "src/stack/left/deep/d.ts": [],
      "src/stack/ground/c.ts": [],
    }),
  ).toEqual([]);
});

test("a list of equals may be long", () => {
  const files = ["src/list/a.ts", "src/list/b.ts", "src/list/c.ts"].map((file) => [file, []]);
  const listRules = { ...rules, layers: { ...rules.layers, list: [] } };
  expect(findProblems(new Map(files as [string, string[]][]), listRules)).toEqual([]);
});

describe("services", () => {
  const entries = ["svc-access", "svc-access/runtime"];
  const importing = (file: string, name: string) => ({
    folder: "services/iam",
    imports: new Map([[`services/iam/${file}`, [name]]]),
    packages: ["@bufbuild/protobuf", "svc-access"],
    testPackages: ["pg"],
  });

  test.each<[string, string, string, string]>([
    [
      "a file of this package",
      "src/a.ts",
      "../../../src/runtime/index.ts",
      "a service imports its own files, and svc-access, svc-access/runtime",
    ],
    [
      "a file of another service",
      "src/a.ts",
      "../../gateway/src/b.ts",
      "a service imports its own files, and svc-access, svc-access/runtime",
    ],
    [
      "the support of tests, outside of tests",
      "src/a.ts",
      "../../../test/support/postgres.ts",
      "a service imports its own files, and svc-access, svc-access/runtime",
    ],
    [
      "a test of this package",
      "test/a.test.ts",
      "../../../test/runtime/b.ts",
      "a service imports its own files, and svc-access, svc-access/runtime",
    ],
    [
      "a file below an entry",
      "src/a.ts",
      "svc-access/dist/runtime.js",
      "svc-access exports svc-access, svc-access/runtime",
    ],
    [
      "a package that another one brings",
      "src/a.ts",
      "kysely/helpers/sqlite",
      "kysely is not in the dependencies of services/iam/package.json",
    ],
    [
      "a package whose name begins like one of its own",
      "src/a.ts",
      "@bufbuild/protoplugin",
      "@bufbuild/protoplugin is not in the dependencies of services/iam/package.json",
    ],
    [
      "a package of its tests, outside of tests",
      "src/a.ts",
      "pg",
      "pg is not in the dependencies of services/iam/package.json",
    ],
    [
      "the test runner, outside of tests",
      "src/a.ts",
      "vitest",
      "vitest is not in the dependencies of services/iam/package.json",
    ],
    [
      "a computed name",
      "src/a.ts",
      "name",
      "name is not in the dependencies of services/iam/package.json",
    ],
  ])("import not %s", (_, file, name, reason) => {
    expect(findServiceProblems(importing(file, name), entries)).toEqual([
      `services/iam/${file} imports ${name}: ${reason}`,
    ]);
  });

  test.each([
    ["src/a.ts", "svc-access/runtime"],
    ["src/a.ts", "@bufbuild/protobuf/wkt"],
    ["src/a.ts", "node:crypto"],
    ["src/a.ts", "../gen/iam_pb.ts"],
    ["test/a.test.ts", "vitest"],
    ["test/a.test.ts", "pg"],
    ["test/a.test.ts", "../src/a.ts"],
    ["test/deep/a.test.ts", "../../../../test/support/postgres.ts"],
  ])("%s may import %s", (file, name) => {
    expect(findServiceProblems(importing(file, name), entries)).toEqual([]);
  });

  test("have cycles only by relative imports", () => {
    const service = { ...importing("src/a.ts", "./b.ts"), packages: [] };
    expect([...ownImports(service)]).toEqual([
      ["services/iam/src/a.ts", ["services/iam/src/b.ts"]],
    ]);
  });
});
