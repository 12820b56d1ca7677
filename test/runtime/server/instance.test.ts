/** A process has the same name everywhere. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRouteDocument } from "../../../src/runtime/index.ts";
import { connectEtcd } from "../../../src/runtime/registry/etcd-client.ts";
import { parseRouteKey } from "../../../src/runtime/registry/route-keys.ts";
import { readPrefix } from "../../../src/runtime/registry/route-watch.ts";
import { etcdIsAbsent, startEtcd } from "../../support/etcd.ts";
import { untilReady } from "../faults/support/until.ts";
import { FIXTURE, shareDocument, startVault } from "../support/vault-server.ts";

describe.skipIf(etcdIsAbsent())("a server with audit and registry", () => {
  test("has the same instance name in its audit events and in the keys of its routes", async () => {
    const etcd = await startEtcd();
    const endpoints = [etcd.endpoint];
    const vault = await startVault({
      routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
      config: { registry: { etcd: { endpoints, lease_ttl_seconds: 5 } } },
    });
    const client = connectEtcd({ endpoints });
    try {
      await shareDocument(vault.engine);
      await untilReady(vault.http);
      const written = await fetch(`http://127.0.0.1:${vault.http}/v1/documents/open`, {
        method: "PUT",
        headers: { "x-svc-external-sub": "alice", "content-type": "application/json" },
        body: '{"text":"t"}',
      });
      expect(written.status).toBe(200);
      const { events = [] } = (await vault.server.audit?.list()) ?? {};
      const { pairs } = await readPrefix(client, "/svc/kernel/routes/development/vault/");
      const audited = events.map(({ data }) => data.instance);
      const published = pairs.map(({ key }) => parseRouteKey("development", key.toString()));
      expect(audited).toHaveLength(1);
      expect(published.length).toBeGreaterThan(1);
      expect(new Set([...audited, ...published.map((key) => key?.instance)]).size).toBe(1);
    } finally {
      client.close();
      await vault.stop();
      await etcd.remove();
    }
  });
});
