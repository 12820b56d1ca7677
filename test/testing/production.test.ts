import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

/** A text that only the sources of svc-access/testing contain, and that bundling keeps. */
const MARK = "svc-access-testing-";

test("svc-access/testing contains the text", () => {
  expect(bundleOf("testing").includes(MARK)).toBe(true);
});

test.each(["runtime", "authz", "runtime-registry"])(
  "%s does not load svc-access/testing [TEST-1]",
  (name) => {
    expect(bundleOf(name).includes(MARK)).toBe(false);
  },
);

/** The text of all our files that an entry point loads. */
function bundleOf(name: string): string {
  const loaded = new Map<string, string>();
  load(join(ROOT, `dist/${name}.js`), loaded);
  expect(loaded.size).toBeGreaterThan(2);
  return [...loaded.values()].join("\n");
}

/** Adds our files that a bundle imports, statically or dynamically. */
function load(path: string, loaded: Map<string, string>): void {
  if (loaded.has(path)) return;
  const text = readFileSync(path, "utf8");
  loaded.set(path, text);
  for (const [, name = ""] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+\.js)"/g)) {
    load(join(dirname(path), name), loaded);
  }
}
