import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DatabaseSettings,
  openServiceDatabase,
  type ServiceDatabase,
} from "svc-access/database";
import { afterAll, test } from "vitest";
import { openPostgres, query } from "../../../../test/support/postgres.ts";
import type { ProviderTables } from "../../src/ground/store/provider-tables.ts";
import { IAM_TABLES } from "../../src/ground/store/tables.ts";
import { IS_PRODUCTION_STACK, newDatabase } from "./stack.ts";

/** A database of a test. */
export interface TestDatabase {
  /** One of its connections: the first three calls return different ones, as replicas have. */
  readonly open: () => ServiceDatabase<ProviderTables>;
}

const REPLICAS = 3;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A new SQLite file with the tables of the service. */
export async function sqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  return openAll({ driver: "sqlite", file: join(folder, "iam.db") });
}

/** A new database of the stack that the tests run on. */
export async function stackDatabase(): Promise<TestDatabase> {
  return IS_PRODUCTION_STACK ? openAll({ driver: "postgres", url: await newDatabase() }) : sqlite();
}

/** The way to new PostgreSQL databases with the tables of the service; undefined without PostgreSQL. */
export async function postgres(): Promise<(() => Promise<TestDatabase>) | undefined> {
  const server = await openPostgres();
  if (server === undefined) {
    test.skip("PostgreSQL is not installed", () => undefined);
    return undefined;
  }
  closing.push(() => server.remove());
  return async () => {
    const name = `iam_${randomUUID().replaceAll("-", "")}`;
    await query(server.url, `create database ${name}`);
    const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
    return openAll({ driver: "postgres", url });
  };
}

async function openAll(place: Pick<DatabaseSettings, "driver" | "file" | "url">) {
  const database: DatabaseSettings = {
    ...place,
    max_open_conns: 3,
    max_idle_conns: 1,
    conn_max_lifetime_ns: 60e9,
    slow_query_threshold_ns: 60e9,
  };
  const opened: ServiceDatabase<ProviderTables>[] = [];
  for (let replica = 0; replica < REPLICAS; replica++) {
    const one = await openServiceDatabase<ProviderTables>({ database }, IAM_TABLES);
    opened.push(one);
    closing.push(() => one.close());
  }
  let next = 0;
  return { open: () => opened[next++ % REPLICAS] as ServiceDatabase<ProviderTables> };
}
