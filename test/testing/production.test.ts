import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

test.each(["runtime", "authz", "runtime-registry"])(
  "%s does not load svc-access/testing",
  (name) => {
    const loaded = new Map<string, string>();
    load(join(ROOT, `dist/${name}.js`), loaded);
    expect(loaded.size).toBeGreaterThan(2);
    for (const text of loaded.values()) expect(text).not.toContain("svc-access-testing-");
  },
);

/** What a bundle imports of ours, at its start or later. */
function load(path: string, loaded: Map<string, string>): void {
  if (loaded.has(path)) return;
  const text = readFileSync(path, "utf8");
  loaded.set(path, text);
  for (const [, name = ""] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+\.js)"/g)) {
    load(join(dirname(path), name), loaded);
  }
}
