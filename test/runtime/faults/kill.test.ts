/** Processes are killed while they serve audited writes: every acknowledged write is stored, and the next process starts at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createLogger, createServer } from "../../../src/runtime/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { runs } from "../../support/effort.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { vaultConfiguration } from "../support/vault-server.ts";
import { storedEvents } from "./support/audited.ts";
import { type ChildOptions, startChildVault } from "./support/child.ts";
import { Load } from "./support/load.ts";

const KILLS = runs(10, 1);
const KINDS = ["public", "denied", "write", "internal write", "refused write"] as const;

const folder = mkdtempSync(join(tmpdir(), "svc-access-killed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`SQLite: no acknowledged write is lost when ${KILLS} serving processes are killed`, () =>
  killServers({ folder }));

await onPostgres("killed on PostgreSQL", ({ url }) => {
  test(`no acknowledged write is lost when ${KILLS} serving processes are killed`, () =>
    killServers({ folder, config: { database: { driver: "postgres", url } } }));
});

async function killServers(options: ChildOptions): Promise<void> {
  const loads: Load[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const vault = await startChildVault(options);
    const textOf = (id: string) => `grant doc-${id}`;
    const load = new Load(vault, { kinds: KINDS, width: 2, textOf });
    loads.push(load);
    await load.phase("serving");
    vault.process.kill("SIGKILL");
    expect(await vault.ended).toBe("SIGKILL");
    await load.stop();
    load.expectPhase("serving");
    // A write without a response may or may not have happened.
    load.expectNoWrongAnswer([0]);
  }
  const server = await createServer({
    configuration: vaultConfiguration(folder, {}, options.config ?? {}),
    bindings: [bindVaultService(vaultHandlers())],
    logger: createLogger({ destination: { write: () => undefined } }),
  });
  try {
    const events = await storedEvents(server);
    let written = 0;
    let refused = 0;
    for (const { kind, requestId, status } of loads.flatMap(({ answers }) => answers)) {
      if (!kind.endsWith("write")) continue;
      const found = events.get(requestId) ?? [];
      expect(found.length, requestId).toBeLessThanOrEqual(1);
      const state = found[0]?.data.state;
      if (status === 0) {
        expect([undefined, "pending", "unknown", "completed"], requestId).toContain(state);
        continue;
      }
      // Of repeated refusals, only the first is stored as an event at once.
      if (status === 403 && (state === undefined || found[0]?.data.repeats !== undefined)) continue;
      if (status === 403) refused++;
      expect(found[0]?.data, `the event of ${requestId}`).toMatchObject({
        state: "completed",
        status,
      });
      if (kind !== "write") continue;
      written++;
      const checked = await server.engine?.check({
        resource: { type: "document", id: `doc-${requestId}` },
        permission: "view",
        subject: { type: "user", id: "alice" },
      });
      expect(checked?.allowed, `the relationship of ${requestId}`).toBe(true);
    }
    expect(written).toBeGreaterThan(0);
    expect(refused).toBeGreaterThanOrEqual(KILLS);
  } finally {
    await server.stop();
  }
}
