/** No page of svc-iam is left out by the tests that look at all of them with axe. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AUDITED_PAGES } from "../support/pages/audited-pages.ts";

const SRC = join(import.meta.dirname, "../../src");
const TEST = join(import.meta.dirname, "..");

/** Values that are put into the title of a page, or of another page. */
const NO_TITLES = [
  "title: say(title)",
  "title: texts.say(title)",
  "title: say(heading)",
  "readonly title: Html;",
  "readonly title: MessageKey;",
  "{ title: html`",
];

const sources = globSync("**/*.ts", { cwd: SRC }).map((file) => ({
  file,
  text: readFileSync(join(SRC, file), "utf8"),
}));
const titles = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/\btitle(?::| =) (?:(?:texts\.)?say\()?\s*"([^"]+)"/g)].map(
    ([, title]) => `${file}: ${title}`,
  ),
);

test("each title of a page is one that is audited, and there are no others [PAGE-2]", () => {
  const audited = Object.values(AUDITED_PAGES).map(([file, title]) => `${file}: ${title}`);
  expect([...new Set(audited)].sort()).toEqual([...new Set(titles)].sort());
});

test("no title has a form that this test does not see", () => {
  const lines = sources.flatMap(({ file, text }) =>
    text.split("\n").map((line) => ({ file, line: line.trim() })),
  );
  const unknown = lines
    .filter(({ line }) => /(?<![-\w.])title(?::| =) /.test(line))
    .filter(({ line }) => !/\btitle(?::| =) (?:(?:texts\.)?say\()?\s*"/.test(line))
    .filter(({ line }) => !NO_TITLES.some((known) => line.includes(known)));
  expect(unknown).toEqual([]);
});

test("each name is used by a test", () => {
  const tests = globSync("**/*.test.ts", { cwd: TEST })
    .map((file) => readFileSync(join(TEST, file), "utf8"))
    .filter((text) => text.includes("auditPage("))
    .join("\n");
  for (const name of Object.keys(AUDITED_PAGES)) expect(tests).toContain(`"${name}"`);
});
