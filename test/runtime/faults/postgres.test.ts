/** The database of audit and relationships is killed and started again under load. */
import { afterEach, describe, expect, test } from "vitest";
import { onPostgres } from "../../authz/on-postgres.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { eventsOfAll, expectAudited } from "./support/audited.ts";
import { Load } from "./support/load.ts";
import { readyz, untilReady } from "./support/until.ts";
import { valveTo } from "./support/valve.ts";

/** An audited write requires a stored intent. */
const NO_INTENT = [503, 504];
const DOWN = { write: NO_INTENT, "internal write": NO_INTENT };

await onPostgres("PostgreSQL killed and started again", ({ url, stop, start }) => {
  const open: RunningVault[] = [];
  afterEach(async () => {
    for (const vault of open.splice(0)) await vault.stop();
  });
  const onDatabase = async (at: string) => {
    const vault = await startVault({ config: { database: { driver: "postgres", url: at } } });
    open.push(vault);
    await shareDocument(vault.engine);
    return vault;
  };

  describe.skipIf(stop === undefined || start === undefined)("a temporary server", () => {
    test("writes are refused during the outage, other calls are served, and no acknowledged write is lost", async () => {
      const vault = await onDatabase(url);
      const load = new Load(vault);
      for (const round of [1, 2]) {
        await load.phase(`healthy ${round}`);
        stop?.();
        await load.phase(`down ${round}`);
        await untilReady(vault.http, false);
        expect((await readyz(vault.http)).reasons).toContain("database: ");
        start?.();
        await untilReady(vault.http);
        await load.phase(`again ${round}`);
      }
      await load.stop();
      for (const round of [1, 2]) {
        load.expectPhase(`healthy ${round}`);
        load.expectPhase(`down ${round}`, DOWN);
        load.expectPhase(`again ${round}`);
      }
      load.expectNoWrongAnswer();
      expectAudited(load, await eventsOfAll(load, vault.server));
    });
  });

  test("the metrics include the connections of the audit and of the embedded engine", async () => {
    const vault = await onDatabase(url);
    const text = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
    expect(text).toContain('db_client_connections{pool="authorization",state="used"} 1\n');
    expect(text).toMatch(/^db_client_connections\{pool="database",state="idle"\} [1-9]/m);
  });

  test("with a network that drops everything, writes are refused in time, and work again afterwards", async () => {
    const at = new URL(url);
    const valve = await valveTo(Number(at.port || 5432));
    at.port = String(valve.port);
    const vault = await onDatabase(at.href);
    const load = new Load(vault);
    await load.phase("healthy");
    valve.silence();
    await load.phase("silent", 2);
    expect((await readyz(vault.http)).status).toBe(503);
    valve.open();
    await untilReady(vault.http);
    await load.phase("again");
    await load.stop();
    load.expectPhase("healthy");
    load.expectPhase("silent", DOWN);
    load.expectPhase("again");
    load.expectNoWrongAnswer();
    expectAudited(load, await eventsOfAll(load, vault.server));
    await vault.stop();
    open.length = 0;
    await valve.close();
  });
});
