/** The paths and commands that the pages for contributors name are there. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { RULES } from "../../scripts/layers/layers.ts";
import { ROOT } from "../support/workspace.ts";

const PAGES = [
  "docs/architecture.md",
  "docs/contributing.md",
  "docs/testing.md",
  "docs/embedded-engine.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");

const page = textOf("docs/contributing.md");

/** The top folders whose files the pages name; `dist` is built. */
const FOLDERS =
  "bin|src|proto|templates|schemas|model|examples|services|deploy|test|testdata|scripts|bench|docs|\\.ci";

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

const sources = globSync("{src,services/*/src,examples/notes/{src,test}}/**/*.ts", {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
}).map((path) => `/${path}`);

const placesOf = (end: string) => sources.filter((path) => path.endsWith(`/${end}`));

const isUnknown = (end: string) => placesOf(end).length === 0;

/** Folders of a checkout that are built, installed or made by runs. */
const OTHERS = ["coverage", "data", "dist", "node_modules"];

/** The sections of a page, with their headings. */
function recipesOf(text: string) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({ heading: section.split("\n", 1)[0] ?? "", text: section }));
}

/** The symbols in backticks of a text: words with a capital, other than files at the root and variables. */
function symbolsOf(text: string): string[] {
  const words = [...text.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
  return words.filter((word) => /[A-Z]/.test(word) && isMissing(word));
}

/** The code of all files that a text names. */
function codeOf(text: string): string {
  const paths = [...pathsOf(text), ...filesOf(text).flatMap(placesOf)];
  const files = paths.filter((path) => statSync(join(ROOT, path)).isFile());
  return files.map(textOf).join("\n");
}

const isIn = (code: string, symbol: string) => new RegExp(`\\b${symbol}\\b`).test(code);

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

test.each(Object.entries(RULES.lines))(
  "docs/architecture.md has every folder of %s, and their lines",
  (folder, lines) => {
    const text = textOf("docs/architecture.md");
    const [table = ""] = text.slice(text.indexOf(`| folder of \`${folder}\` |`)).split("\n\n");
    const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.replace("/…", "")),
    );
    expect(named.filter((name) => isMissing(`${folder}/${name}`))).toEqual([]);
    const folders = globSync(`${folder}/*/`, { cwd: ROOT }).map((path) => basename(path));
    expect(folders.filter((name) => !named.includes(name))).toEqual([]);
    expect(text).toContain(lines.map((line) => line.join("   ")).join("\n"));
  },
);

test("docs/architecture.md names every entry point of the package", () => {
  const { exports } = JSON.parse(textOf("package.json")) as { exports: Record<string, unknown> };
  const entries = Object.keys(exports).filter((name) => /^\.\/[\w/]+$/.test(name));
  expect(entries.length).toBeGreaterThan(4);
  const text = textOf("docs/architecture.md");
  expect(entries.filter((name) => !text.includes(`${name.slice(1)}\``))).toEqual([]);
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

  test("has a row for each folder of the repository", () => {
    const table = page.slice(page.indexOf("| folder |")).split("\n\n", 1)[0] ?? "";
    const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    const folders = globSync("*/", { cwd: ROOT }).filter(
      // A build writes a folder of its own, and renames it.
      (name) => !OTHERS.includes(name) && !name.startsWith("dist-"),
    );
    expect(rows.sort()).toEqual(folders.sort());
    expect(folders.filter((name) => !FOLDERS.split("|").includes(name))).toEqual([]);
  });

  test("names each file by a path, or a name that no other file has", () => {
    const ambiguous = filesOf(page).filter((end) => placesOf(end).length !== 1);
    expect(ambiguous).toEqual([]);
  });

  test.each(recipesOf(page))("names symbols that its files have: $heading", ({ text }) => {
    const code = codeOf(text);
    expect(symbolsOf(text).filter((symbol) => !isIn(code, symbol))).toEqual([]);
  });

  test("a symbol that its files do not have is found", () => {
    const text = "`RULES` and `NO_SUCH` in `src/rules/index.ts`, `rpcRule` of `src/rules/rule.ts`";
    expect(symbolsOf(text)).toEqual(["RULES", "NO_SUCH", "rpcRule"]);
    expect(symbolsOf(text).filter((symbol) => !isIn(codeOf(text), symbol))).toEqual(["NO_SUCH"]);
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
      "A language of the pages",
      "A service",
    ]);
  });
});
