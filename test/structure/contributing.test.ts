/** The paths and commands that docs/contributing.md names are there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

const page = readFileSync(join(ROOT, "docs/contributing.md"), "utf8");

/** The top folders whose files the page names. */
const FOLDERS =
  "bin|src|proto|templates|schemas|model|examples|services|test|testdata|scripts|bench|docs";

/** The paths of a text: what is to be written has a `<name>` in it, and its folder must be there. */
function pathsOf(text: string): string[] {
  const pattern = new RegExp(`\`((?:${FOLDERS})(?:/[^\`\\s]+)?)\``, "g");
  return [...text.matchAll(pattern)].map(([, path = ""]) => path.replace(/\/[^/]*<.*$/, ""));
}

const isMissing = (path: string) => !existsSync(join(ROOT, path));

describe("docs/contributing.md", () => {
  test("a path that is not there is found", () => {
    const text =
      "`src/rules/no-such.ts`, `src/no-such/<name>.ts`, `src/rules/access-<name>.ts`, `test`";
    expect(pathsOf(text).filter(isMissing)).toEqual(["src/rules/no-such.ts", "src/no-such"]);
  });

  test("names paths that exist", () => {
    const paths = pathsOf(page);
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter(isMissing)).toEqual([]);
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
