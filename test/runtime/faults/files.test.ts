/** Files that are removed while a service has them open. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import { parseModel } from "../../../src/model/index.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { requestOf } from "./support/calls.ts";
import { readyz, until, untilReady } from "./support/until.ts";

let folder: string;
let vault: RunningVault;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-files-"));
  const database = { driver: "sqlite", file: join(folder, "vault.db") };
  vault = await startVault({ config: { database } });
  await shareDocument(vault.engine);
});
afterEach(async () => {
  await vault.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([
  ["database", "vault.db"],
  ["authorization engine", "vault.relationships.db"],
])("readiness of the %s says that its file was", (part, name) => {
  test.each<[string, (file: string) => void]>([
    ["removed", (file) => rmSync(file)],
    ["renamed", (file) => renameSync(file, `${file}.old`)],
    [
      "replaced",
      (file) => {
        rmSync(file);
        writeFileSync(file, "");
      },
    ],
  ])("%s", async (_, change) => {
    expect(await readyz(vault.http)).toEqual({ status: 200, reasons: "" });
    const file = join(folder, name);
    change(file);
    await untilReady(vault.http, false);
    const { reasons } = await readyz(vault.http);
    expect(reasons).toMatch(new RegExp(`^${part}: `));
    expect(reasons).toContain(
      `${file} was removed or replaced while it is open: restart the process`,
    );
  });
});

test("without the lock of its store a service decides nothing, is not ready, and logs the fix", async () => {
  const read = async () => {
    const { path, headers } = requestOf("allowed", "");
    return (await fetch(`http://127.0.0.1:${vault.http}${path}`, { headers })).status;
  };
  expect(await read()).toBe(200);
  rmSync(join(folder, "vault.relationships.db-lock"));
  await until("calls that must be authorized are refused", async () => (await read()) === 503);
  await untilReady(vault.http, false);
  const logged = vault.lines.filter((line) => line.includes("permissions are no longer checked"));
  expect(logged).toHaveLength(1);
  expect(JSON.parse(logged[0] as string)).toMatchObject({
    level: "error",
    reason: expect.stringMatching(/restart the process \(.*-lock was removed or replaced/),
  });
});

test("a store without files cannot lose any", async () => {
  const { model } = parseModel("definition user {}", "model.zed");
  const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
  expect(await engine.ready()).toEqual({ ready: true });
  await engine.close();
});
