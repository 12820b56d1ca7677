import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

/** A text of svc-access/testing that is in no other source, and outlives bundling. */
const MARK = "svc-access-testing-";

test("what is looked for is in svc-access/testing", () => {
  expect(bundleOf("testing").includes(MARK)).toBe(true);
});

test.each(["runtime", "authz", "runtime-registry"])(
  "%s does not load svc-access/testing [TEST-1]",
  (name) => {
    expect(bundleOf(name).includes(MARK)).toBe(false);
  },
);

/** All that an entry loads of ours. */
function bundleOf(name: string): string {
  const loaded = new Map<string, string>();
  load(join(ROOT, `dist/${name}.js`), loaded);
  expect(loaded.size).toBeGreaterThan(2);
  return [...loaded.values()].join("\n");
}

/** What a bundle imports of ours, at its start or later. */
function load(path: string, loaded: Map<string, string>): void {
  if (loaded.has(path)) return;
  const text = readFileSync(path, "utf8");
  loaded.set(path, text);
  for (const [, name = ""] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+\.js)"/g)) {
    load(join(dirname(path), name), loaded);
  }
}
