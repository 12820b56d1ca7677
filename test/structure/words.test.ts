/** Plain words, the same ones everywhere: in messages, docs, comments and the names of tests. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

const FILES = globSync(
  [
    "{bench,bin,deploy,docs,examples,model,proto,scripts,services,src,templates,test}/**/*.{ts,md,proto,zed,yaml,hbs}",
    "*.md",
  ],
  { cwd: ROOT, exclude: (name) => /^(node_modules|gen|dist|data)$/.test(name) },
)
  .filter((file) => file !== "test/structure/words.test.ts")
  .sort();

/** Words that are not used, and what is written instead. */
const WORDS: readonly (readonly [RegExp, instead: string])[] = [
  [/\bmend(s|ed|ing)?\b/i, "fix"],
  [/\bof no account\b/i, "ignored"],
  [/\b(is|are|was|were) told\b/i, "is notified, or learns; of a result: is reported"],
  [/(?<!\b[Tt]here )\b(is|are|was|were) no (?!longer|more|other)[a-z]/, "is not a"],
  [/\bmisled\b/i, "wrong"],
  [/\brehears/i, "try"],
  [/\bjudg(e|es|ed|ing)\b/i, "decide, or check"],
  [/\bpaced\b/i, "limited"],
  [/\bhygiene\b/i, "what is kept out"],
  [/\bspec(?:ification)?s? (?:§|section |page )\d/i, "the requirement, by its id"],
];

test("there are files to look at", () => {
  expect(FILES.length).toBeGreaterThan(1500);
});

describe.each(WORDS)("%s", (pattern, instead) => {
  test(`is not written: write ${instead}`, () => {
    expect(FILES.flatMap((file) => linesWith(file, pattern))).toEqual([]);
  });
});

function linesWith(file: string, pattern: RegExp): string[] {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  return lines.flatMap((line, index) =>
    pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
  );
}
