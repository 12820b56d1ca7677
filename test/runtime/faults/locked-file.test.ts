/** Another program locks the SQLite files of a service under load. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lockSqlite } from "../../support/sqlite/sqlite-locker.ts";
import { shareDocument, startVault } from "../support/vault-server.ts";
import { eventsOfAll, expectAudited } from "./support/audited.ts";
import { requestOf } from "./support/calls.ts";
import { Load } from "./support/load.ts";
import { until } from "./support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-locked-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const MAYBE = { write: [200, 503], "internal write": [200, 503] };

test("a locked database: audited writes get 503 with Retry-After, liveness and reads respond, and nothing is lost or written twice [STORE-3]", async () => {
  const file = join(folder, "vault.db");
  const vault = await startVault({ config: { database: { driver: "sqlite", file } } });
  await shareDocument(vault.engine);
  const load = new Load(vault);
  await load.phase("healthy");
  const release = await lockSqlite(file);
  const refused = () => load.audited((status) => status === 503).length;
  await until("writes are refused", () => refused() > 20);
  for (let probe = 0; probe < 20; probe++) {
    expect((await fetch(`http://127.0.0.1:${vault.http}/healthz`)).status).toBe(200);
  }
  const { method, path, body, headers } = requestOf("write", "locked");
  const response = await fetch(`http://127.0.0.1:${vault.http}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.json()).toMatchObject({ code: "UNAVAILABLE" });
  await load.phase("locked");
  await release();
  await until("writes are stored", async () => {
    const stored = load.audited((status) => status === 200).length;
    await load.phase("recovering", 5);
    return load.audited((status) => status === 200).length > stored + 10;
  });
  await load.phase("free");
  await load.stop();
  load.expectPhase("healthy");
  load.expectPhase("locked", MAYBE);
  expect(load.statuses("locked", "write")).toContain(503);
  load.expectPhase("free");
  load.expectNoWrongAnswer([503]);
  expectAudited(load, await eventsOfAll(load, vault.server));
  await vault.stop();
});
