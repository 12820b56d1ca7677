import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadPlatform } from "../../src/compiler/platform.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-platform-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["of all services", "environment: test\nmodel: gone.zed\n", "2:1"],
  ["of a service", "services:\n  notes:\n    packages: [notes.v1]\n    model: gone.zed\n", "4:5"],
])("a missing model %s is reported with the position of its key", async (_, text, position) => {
  const config = join(folder, "svc-access.yaml");
  writeFileSync(config, text);
  await expect(loadPlatform({ config, folders: [] })).rejects.toThrow(
    `gone.zed, which ${config}:${position} names, does not exist; create it, or name another file`,
  );
});
