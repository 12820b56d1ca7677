import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";

/** The value of a key or a variable that is secret by its name, with a default that is not empty. */
const DEFAULT =
  /(?:token|secret|password|key):\s*["']?\$\{\w+:-[^}]+\}|\$\{\w*(?:TOKEN|SECRET|PASSWORD|KEY)\w*:-[^}]+\}/i;

test.each([
  `token: "\${HUB_TOKEN:-dev-token}"`,
  "url: postgres://hub:${DB_PASSWORD:-hub}@db/hub",
  "{service: hub, token: ${T:-x}}",
])("a default is noticed: %s", (line) => expect(line).toMatch(DEFAULT));

test.each(["token: ${HUB_TOKEN_NEXT:-}", "token: ${HUB_TOKEN}", "file: ${DATA:-.}/notes.db"])(
  "none is seen in %s",
  (line) => expect(line).not.toMatch(DEFAULT),
);

test("no page and no example shows a secret with a default, which would be known to all readers", () => {
  const files = globSync(["README.md", "docs/**/*.md", "examples/**/*.{yaml,md}"], {
    cwd: ROOT,
    exclude: (path) => path.includes("node_modules"),
  });
  expect(files.length).toBeGreaterThan(20);
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .filter((line) => DEFAULT.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
