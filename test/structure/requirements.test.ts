/** docs/requirements.md, the names of tests that refer to it, and what else of this repository cites it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { taggedTests, withRequirementTests } from "../../scripts/generate/requirements.ts";
import { ROOT } from "../support/workspace.ts";

const PAGE = `# Requirements

- \`EXP-1\` Anyone may call.
- \`EXP-2\` A caller may call.
- \`IAM-1\` (not built yet) The server.

<!-- The list is generated from the names of the tests by npm run generate. -->

| what was there before |
`;

const shown = (name: string, ...ids: string[]) => ({ file: "test/a.test.ts", name, ids });

describe("the page is refused", () => {
  test.each<[string, string, ReturnType<typeof shown>[], string]>([
    [
      "with a test of an id that it does not have",
      PAGE,
      [shown("passes", "EXP-1", "EXP-3")],
      'test/a.test.ts: "passes" names EXP-3, and docs/requirements.md does not have it',
    ],
    [
      "with a test of what is not built yet",
      PAGE,
      [shown("serves", "IAM-1")],
      'test/a.test.ts: "serves" names IAM-1, and docs/requirements.md says that it is not built yet',
    ],
    [
      "with an id twice",
      PAGE.replace("EXP-2", "EXP-1"),
      [],
      "docs/requirements.md has EXP-1 twice",
    ],
    [
      "with a requirement that no test names",
      PAGE,
      [shown("passes", "EXP-1")],
      "no test names EXP-2 of docs/requirements.md",
    ],
    ["without its mark", "- `EXP-1` Anyone.\n", [], "has lost its mark"],
  ])("%s", (_, page, tests, message) => {
    expect(() => withRequirementTests(page, tests)).toThrow(message);
  });
});

test("each requirement has its tests, or its mark", () => {
  const marked = PAGE.replace("`EXP-2`", "`EXP-2` (shown at the edge later)");
  const page = withRequirementTests(marked, [shown("one | two", "EXP-1"), shown("three", "EXP-1")]);
  expect(
    page.slice(page.indexOf("<!--")),
  ).toBe(`<!-- The list is generated from the names of the tests by npm run generate. -->

| requirement | tests |
|---|---|
| \`EXP-1\` | \`test/a.test.ts\`: one \\| two<br>\`test/a.test.ts\`: three |
| \`EXP-2\` | shown at the edge later |
`);
  expect(withRequirementTests(marked, [shown("x", "EXP-1", "EXP-2")])).toContain(
    "| `EXP-2` | `test",
  );
});

test("ids are read at the end of a name only", () => {
  // Put together, for this file is read as well.
  const tag = (ids: string) => `[${ids}]`;
  const source = [
    `test("a [b] \\"c\\" ${tag("EXP-1")}", () => {`,
    `test.each(["x"])('%s ${tag("EXP-2, IAM-1")}', () => {`,
    `describe(\`\${name} ${tag("EXP-3")}\`, () => {`,
    `test("not ${tag("EXP-4")} at the end", () => expect(list${tag("0")}).toBe("x"));`,
    `test("not an id ${tag("utf-8")}", () => {`,
  ].join("\n");
  expect(taggedTests("a.ts", source)).toEqual([
    { file: "a.ts", name: 'a [b] \\"c\\"', ids: ["EXP-1"] },
    { file: "a.ts", name: "%s", ids: ["EXP-2", "IAM-1"] },
    { file: "a.ts", name: `\${name}`, ids: ["EXP-3"] },
  ]);
});

describe("what this repository cites", () => {
  const folders = [
    "bench",
    "bin",
    "docs",
    "examples",
    "model",
    "proto",
    "schemas",
    "scripts",
    "services",
  ];
  const sources = [...folders, "src", "templates", "test", "testdata"].flatMap(filesOf);
  const files = [...sources, "README.md", "buf.yaml", "package.json"];
  const citations = (pattern: RegExp) =>
    files.flatMap((file) => {
      const found = readFileSync(join(ROOT, file), "utf8").matchAll(pattern);
      return [...found].map(([text]) => ({ file, text }));
    });

  test("is never a page of another repository", () => {
    expect(citations(/\bspec(?:ification)?s? \d+(?:\.\d+)*|\bdesign\.md/gi)).toEqual([]);
  });

  test("by id is a requirement", () => {
    const page = readFileSync(join(ROOT, "docs/requirements.md"), "utf8");
    const ids = new Set([...page.matchAll(/^- `([A-Z]+-\d+)`/gm)].map(([, id = ""]) => id));
    const groups = new Set([...ids].map((id) => id.replace(/-\d+$/, "")));
    const own = "test/structure/requirements.test.ts";
    const cited = citations(/\b[A-Z]{3,}-\d+\b/g).filter(({ file, text }) => {
      return file !== own && groups.has(text.replace(/-\d+$/, ""));
    });
    expect(cited.length).toBeGreaterThan(ids.size);
    expect(cited.filter(({ text }) => !ids.has(text))).toEqual([]);
  });
});

/** The files of a folder, but for installed packages and what is not text. */
function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    if (name === "node_modules" || /\.(binpb|gz|db|pem)$/.test(name)) return [];
    return statSync(join(ROOT, path)).isDirectory() ? filesOf(path) : [path];
  });
}
