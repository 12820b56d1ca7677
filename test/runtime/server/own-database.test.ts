/** A service's own database, which its server shares, checks and closes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  openServiceDatabase,
  type ServiceMigration,
  sql,
} from "../../../src/database/service/index.ts";
import { createServer } from "../../../src/runtime/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { shareDocument, startVault, vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-own-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const sqlite = (of: object = {}) => ({
  database: { driver: "sqlite", file: join(folder, `${++count}.db`), ...of },
});

interface Tables {
  readonly topics: { readonly id: string };
}

const TABLES = {
  component: "topics",
  migrations: [
    {
      name: "create_topics",
      async up(database, { text }) {
        await database.schema
          .createTable("topics")
          .addColumn("id", text, (column) => column.primaryKey())
          .execute();
      },
    } satisfies ServiceMigration,
  ],
};

const configured = (config: object) => vaultConfiguration(folder, {}, config);
const open = (config: object) => openServiceDatabase<Tables>(configured(config).config, TABLES);

async function serves(config: object) {
  const database = await open(config);
  const order: string[] = [];
  const vault = await startVault({
    config,
    database,
    onClose: async () => {
      await database.kysely.insertInto("topics").values({ id: "last" }).execute();
      order.push("onClose");
    },
  });
  await shareDocument(vault.engine);
  const { status } = await fetch(`http://127.0.0.1:${vault.http}/v1/documents/open`, {
    method: "PUT",
    headers: { "x-svc-external-sub": "alice", "content-type": "application/json" },
    body: "{}",
  });
  const ready = await fetch(`http://127.0.0.1:${vault.http}/readyz`);
  const { rows } = await sql`select * from audit_events`.execute(database.kysely);
  const { open: connections } = database.poolStats();
  await vault.stop();
  const closed = await database.kysely
    .selectFrom("topics")
    .execute()
    .catch((error) => error.name);
  return { status, ready: ready.status, audited: rows.length, connections, order, closed };
}

test("a server uses it for audit, and closes it after onClose", async () => {
  expect(await serves(sqlite())).toMatchObject({
    status: 200,
    ready: 200,
    audited: 1,
    order: ["onClose"],
    closed: "DatabaseError",
    connections: 1,
  });
});

await onPostgres("a service's own database in PostgreSQL", ({ url, query }) => {
  test("has one pool for the service and for audit", async () => {
    await query("create database own_topics");
    const own = Object.assign(new URL(url), { pathname: "/own_topics" }).href;
    const result = await serves({
      database: { driver: "postgres", url: own, max_open_conns: 2, max_idle_conns: 2 },
    });
    expect(result).toMatchObject({
      status: 200,
      ready: 200,
      audited: 1,
      order: ["onClose"],
      closed: "DatabaseError",
    });
    expect(result.connections).toBeLessThanOrEqual(2);
    expect(
      await query(
        "select count(*)::int as left from pg_stat_activity where datname = 'own_topics'",
      ),
    ).toEqual([{ left: 0 }]);
  });
});

test("slow statements go to the log of the server", async () => {
  const config = sqlite({ slow_query_threshold_ns: 1_000_000 });
  const database = await open(config);
  const vault = await startVault({ config, database });
  await sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 200000)
    select sum(n) from numbers`.execute(database.kysely);
  await vault.stop();
  expect(vault.lines.join("")).toContain("slow query");
});

test("a server that is not created closes it", async () => {
  const config = sqlite();
  const database = await open(config);
  await expect(
    createServer({
      configuration: configured(config),
      bindings: [],
      database,
      rawHandlers: [{ path: "/x", handle: () => undefined }],
    }),
  ).rejects.toThrow("/x");
  expect(await database.ready()).toMatch(/./);
});

test.each([
  ["another database", async () => open(sqlite()), "is not the one of the configuration: open it"],
  [
    "what is none",
    async () => ({ name: "x", close: async () => {} }),
    "is not the result of openServiceDatabase",
  ],
])("%s is refused", async (_, given, message) => {
  const database = (await given()) as never;
  const created = createServer({
    configuration: configured(sqlite()),
    bindings: [bindVaultService(vaultHandlers())],
    database,
  });
  await expect(created).rejects.toThrow(message);
});
