/** Durable writes of the embedded engine against the bare store's one-row commits, in turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { createEmbeddedEngine } from "../src/authz/embedded/index.ts";
import type { RelationshipStore } from "../src/authz/relationship-store.ts";
import { openPostgresStore } from "../src/authz/store/open-postgres-store.ts";
import { openSqliteStore } from "../src/authz/store/open-sqlite-store.ts";
import { parseModel } from "../src/model/index.ts";
import { openPostgres } from "../test/support/postgres.ts";

const CALLERS = [1, 16];
const WRITES = 200;
const ROUNDS = 75;
const LIMIT = 0.7;
const SCHEMA = `definition user {}
definition document {
  relation viewer: user
}
`;

/** Makes one durable write; a caller has a number. */
type Write = (caller: number) => Promise<unknown>;

/** Prints the ratios of all stores. */
export async function benchAuthzWrites(): Promise<void> {
  await benchSqlite();
  await benchPostgres();
}

async function benchSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-writes-"));
  const file = join(folder, "bare.db");
  const connections = CALLERS.flatMap((callers) =>
    Array.from({ length: callers }, () => new DatabaseSync(file, { timeout: 5000 })),
  );
  try {
    for (const connection of connections) {
      connection.exec(
        "pragma journal_mode=wal; pragma synchronous=full; create table if not exists row (id text primary key)",
      );
    }
    const inserts = connections.map((connection) =>
      connection.prepare("insert into row values (?)"),
    );
    await compare(
      "SQLite, WAL, synchronous=FULL",
      async (caller) => inserts[caller]?.run(nextId()),
      await openSqliteStore({ file: join(folder, "engine.db") }),
    );
  } finally {
    for (const connection of connections) connection.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchPostgres(): Promise<void> {
  const server = await openPostgres();
  if (server === undefined) {
    process.stdout.write("\nauthz-writes: PostgreSQL skipped: it is not installed\n");
    return;
  }
  const clients = Array.from(
    { length: Math.max(...CALLERS) },
    () => new Client({ connectionString: server.url }),
  );
  try {
    for (const client of clients) await client.connect();
    await clients[0]?.query("create table if not exists bare_row (id text primary key)");
    await compare(
      "PostgreSQL, synchronous_commit on",
      async (caller) =>
        clients[caller]?.query({
          name: "insert",
          text: "insert into bare_row values ($1)",
          values: [nextId()],
        }),
      await openPostgresStore({ url: server.url, schema: `bench_${process.pid}` }),
    );
    await clients[0]?.query(`drop table bare_row; drop schema bench_${process.pid} cascade`);
  } finally {
    for (const client of clients) await client.end();
    server.remove();
  }
}

async function compare(name: string, bare: Write, store: RelationshipStore): Promise<void> {
  const engine = await createEmbeddedEngine({
    model: parseModel(SCHEMA, "bench.zed").model,
    store,
  });
  const write: Write = () =>
    engine.writeRelationships({
      updates: [
        {
          operation: "CREATE",
          relationship: {
            resource: { type: "document", id: nextId() },
            relation: "viewer",
            subject: { type: "user", id: "u" },
          },
        },
      ],
    });
  process.stdout.write(`\nauthz-writes: ${name}\n`);
  for (const callers of CALLERS) {
    const rates: { readonly bare: number; readonly engine: number }[] = [];
    // The first round is not counted: code is compiled in it.
    for (let round = 0; round <= ROUNDS; round++) {
      const pair = { bare: await rate(bare, callers), engine: await rate(write, callers) };
      if (round > 0) rates.push(pair);
    }
    // Of the same moment: the disk's speed changes more than ours.
    const ratio = middle(rates.map(({ bare, engine }) => engine / bare));
    const of = `${middle(rates.map(({ engine }) => engine)).toFixed(0)} of ${middle(rates.map(({ bare }) => bare)).toFixed(0)}`;
    const line = `${callers === 1 ? "one caller" : `${callers} callers`}: ${of} a second`;
    process.stdout.write(
      `  ${line.padEnd(44)} ${ratio.toFixed(3)}    at least ${LIMIT}  ${ratio >= LIMIT ? "holds" : "DOES NOT HOLD"}\n`,
    );
  }
  await engine.close();
}

let ids = 0;
/** In the order of their making, so that neither side's index is favoured. */
function nextId(): string {
  return `d${String(++ids).padStart(9, "0")}`;
}

async function rate(write: Write, callers: number): Promise<number> {
  let left = WRITES;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (left-- > 0) await write(caller);
    }),
  );
  return (WRITES / (performance.now() - begin)) * 1000;
}

function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) await benchAuthzWrites();
