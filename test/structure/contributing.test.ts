/** The paths and commands that the pages for contributors name are there. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { RULES } from "../../scripts/layers/layers.ts";
import { ROOT } from "../support/workspace.ts";

const PAGES = [
  "docs/architecture.md",
  "docs/contributing.md",
  "docs/embedded-engine.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

const page = textOf("docs/contributing.md");

/** The top folders whose files the pages name; `dist` is built. */
const FOLDERS =
  "bin|src|proto|templates|schemas|model|examples|services|test|testdata|scripts|bench|docs|\\.ci";

/** The paths of a text: what is to be written has a `<name>` in it, and its folder must be there. */
function pathsOf(text: string): string[] {
  const pattern = new RegExp(`\`((?:${FOLDERS})(?:/[^\`\\s]+)?)\``, "g");
  return [...text.matchAll(pattern)].map(([, path = ""]) => path.replace(/\/[^/]*<.*$/, ""));
}

const isMissing = (path: string) => !existsSync(join(ROOT, path));

/** The files of code that a text names by the end of their path: `wire.ts`, `authn/wire.ts`. */
function filesOf(text: string): string[] {
  const all = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
  return all.filter((path) => !new RegExp(`^(?:${FOLDERS})/`).test(path));
}

const sources = globSync("{src,examples/notes/{src,test}}/**/*.ts", {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
}).map((path) => `/${path}`);

const isUnknown = (end: string) => !sources.some((path) => path.endsWith(`/${end}`));

describe.each(PAGES)("%s", (name) => {
  test("names paths that exist", () => {
    expect(pathsOf(textOf(name)).filter(isMissing)).toEqual([]);
  });

  test("names files that exist", () => {
    expect(filesOf(textOf(name)).filter(isUnknown)).toEqual([]);
  });
});

test("the pages name paths and files", () => {
  expect(pathsOf(page).length).toBeGreaterThan(50);
  expect(pathsOf(textOf("docs/architecture.md")).length).toBeGreaterThan(40);
  expect(filesOf(textOf("docs/architecture.md")).length).toBeGreaterThan(4);
});

test("docs/architecture.md has every folder of the runtime, and their lines", () => {
  const text = textOf("docs/architecture.md");
  const [table = ""] = text.slice(text.indexOf("| folder of `src/runtime` |")).split("\n\n");
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
  const named = cells.flatMap((cell) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, folder = ""]) => folder.replace("/…", "")),
  );
  expect(named.filter((folder) => isMissing(`src/runtime/${folder}`))).toEqual([]);
  const folders = globSync("src/runtime/*/", { cwd: ROOT }).map((path) => basename(path));
  expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
  const lines = RULES.lines["src/runtime"] ?? [];
  expect(text).toContain(lines.map((line) => line.join("   ")).join("\n"));
});

describe("docs/contributing.md", () => {
  test("a path that is not there is found", () => {
    const text =
      "`src/rules/no-such.ts`, `src/no-such/<name>.ts`, `src/rules/access-<name>.ts`, `test`";
    expect(pathsOf(text).filter(isMissing)).toEqual(["src/rules/no-such.ts", "src/no-such"]);
    expect(filesOf("`no-such.ts`, `api/api.ts`, `src/a.ts`").filter(isUnknown)).toEqual([
      "no-such.ts",
    ]);
  });

  test("names npm commands that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const commands = [...page.matchAll(/`npm run ([a-z:-]+)`/g)].map(([, name = ""]) => name);
    expect(commands).toContain("check");
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  });

  test("has a section for each thing that is added", () => {
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "A rule",
      "A target",
      "An authenticator",
      "A protocol",
      "An HTTP feature",
      "A store",
      "An engine",
      "A configuration key",
      "A metric",
      "A service",
    ]);
  });
});
