/** Users read the pages in the installed package, so each link must lead to a file in it. */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runProgram } from "../../support/programs.ts";
import { ROOT } from "../../support/workspace.ts";

let published: ReadonlySet<string>;

beforeAll(() => {
  const args = ["pack", "--dry-run", "--ignore-scripts", "--json"];
  const { status, stdout, stderr } = runProgram("npm", args, { cwd: ROOT });
  if (status !== 0) throw new Error(stderr);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  published = new Set(files.map(({ path }) => path));
});

test("every link of README and docs leads to a file, and a heading, of the published package", () => {
  const pages = [...published].filter((path) => path.endsWith(".md"));
  expect(pages).toContain("README.md");
  expect(pages.length).toBeGreaterThan(5);
  const dead: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const link of linksOf(read(page))) {
      if (/^[a-z]+:/.test(link)) continue;
      count++;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : posix.join(posix.dirname(page), path);
      const isThere =
        published.has(target) && (anchor === undefined || anchors(target).has(anchor));
      if (!isThere) dead.push(`${page}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
  expect(count).toBeGreaterThan(20);
});

function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

/** The targets of links, but for those in code. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "code");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
}

/** As GitHub and npm name headings. */
function anchors(page: string): ReadonlySet<string> {
  const headings = read(page)
    .replace(/^```[\s\S]*?^```$/gm, "")
    .matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s/g, "-"),
    ),
  );
}
