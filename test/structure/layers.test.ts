import { describe, expect, test } from "vitest";
import { findProblems, type LayerRules } from "../../scripts/layers/find-problems.ts";

const rules: LayerRules = {
  layers: { low: [], high: ["low"], beside: ["low"], stack: [] },
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
