/** etcd is stopped and started, with and without its data: the service serves, and its routes are published again. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectEtcd } from "../../../src/runtime/registry/etcd-client.ts";
import { readRouteDocument } from "../../../src/runtime/registry/route-entry.ts";
import { readPrefix } from "../../../src/runtime/registry/route-watch.ts";
import { type EtcdServer, etcdIsAbsent, startEtcd } from "../../support/etcd.ts";
import { FIXTURE, type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { Load } from "./support/load.ts";
import { readyz, until, untilReady } from "./support/until.ts";

const LEASE_SECONDS = 5;
const PREFIX = "/svc/kernel/routes/development/vault/";

describe.skipIf(etcdIsAbsent())("etcd", () => {
  const routes = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
  let etcd: EtcdServer;
  let vault: RunningVault;

  beforeAll(async () => {
    etcd = await startEtcd();
    await etcd.stop();
    vault = await startVault({
      routes,
      config: {
        registry: { etcd: { endpoints: [etcd.endpoint], lease_ttl_seconds: LEASE_SECONDS } },
      },
    });
    await shareDocument(vault.engine);
  });
  afterAll(async () => {
    await vault?.stop();
    await etcd?.remove();
  });

  test("readiness waits for the first publication only; calls wait for none [REG-3]", async () => {
    const load = new Load(vault);
    await load.phase("before etcd");
    const reasons = "route registry: the routes are not published yet";
    expect(await readyz(vault.http)).toEqual({ status: 503, reasons });
    await etcd.start();
    await untilReady(vault.http);
    await untilPublished();
    await load.phase("published");

    for (const data of ["kept", "lost"] as const) {
      await etcd.stop();
      await load.phase(`stopped, data ${data}`);
      // Longer than the lease, as any long outage is.
      await until("the loss was noticed", () =>
        vault.lines.some((line) => line.includes("was lost")),
      );
      expect((await readyz(vault.http)).status).toBe(200);
      vault.lines.length = 0;
      await etcd.start(data);
      // The former keys may still exist, and a registry that was not reached again cannot be lost.
      await until("the service has published again", () =>
        vault.lines.some((line) => line.includes("routes published")),
      );
      await untilPublished();
      await load.phase(`started, data ${data}`);
    }
    await load.stop();
    for (const phase of new Set(load.answers.map(({ began }) => began))) {
      if (!phase.startsWith("after") && phase !== "before") load.expectPhase(phase);
    }
    load.expectNoWrongAnswer([]);
    await vault.stop();
    expect(await published()).toEqual([]);
  });

  async function untilPublished(): Promise<void> {
    await until("the routes are published", async () => {
      return (await published().catch(() => [])).length === routes.routes.length;
    });
  }

  async function published(): Promise<string[]> {
    const client = connectEtcd({ endpoints: [etcd.endpoint] });
    try {
      const { pairs } = await readPrefix(client, PREFIX);
      return pairs.map(({ key }) => key.toString());
    } finally {
      client.close();
    }
  }
});
