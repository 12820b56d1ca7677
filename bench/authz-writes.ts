/**
 * Durable writes of the embedded engine against the bare store's one-row commits: a relationship
 * row with the same key, by the same library, as durable. The two take short turns, and each pair
 * of turns is compared by itself, for a disk's speed changes from one moment to the next.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { createEmbeddedEngine } from "../src/authz/embedded/index.ts";
import type { RelationshipStore } from "../src/authz/engine/relationship-store.ts";
import { openPostgresStore } from "../src/authz/store/postgres/open-postgres-store.ts";
import { openSqliteStore } from "../src/authz/store/sqlite/open-sqlite-store.ts";
import { parseModel } from "../src/model/index.ts";
import { openPostgres } from "../test/support/postgres.ts";
import { atLeast, median } from "./verdict.ts";

const CALLERS = [1, 16];
/** The writes of a turn, for each caller. */
const WRITES = 20;
const ROUNDS = 400;
/** Not counted: code is compiled in them. */
const WARM_UP = 100;
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
        `pragma journal_mode=wal; pragma synchronous=full; create table if not exists bare_row (${KEY}) without rowid`,
      );
    }
    const inserts = connections.map((connection) =>
      connection.prepare("insert into bare_row values (?, ?, ?, ?, ?, ?)"),
    );
    await compare(
      "SQLite, WAL, synchronous=FULL",
      async (caller) => inserts[caller]?.run(...nextRow()),
      await openSqliteStore({ file: join(folder, "engine.db") }),
    );
  } finally {
    for (const connection of connections) connection.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchPostgres(): Promise<void> {
  const server = await openPostgres({ isDurable: true });
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
    await clients[0]?.query(
      `create table bare_row (${KEY.replaceAll(" text", ' text collate "C"')})`,
    );
    await compare(
      "PostgreSQL, synchronous_commit on",
      async (caller) =>
        clients[caller]?.query({
          name: "insert",
          text: "insert into bare_row values ($1, $2, $3, $4, $5, $6)",
          values: nextRow(),
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
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const turns = { bare: 0, engine: 0 };
      // Who comes first changes, for what one leaves to the disk may fall on the other.
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        turns[side] = await rate(side === "bare" ? bare : write, callers);
      }
      if (round >= WARM_UP) rates.push(turns);
    }
    const ratio = median(rates.map(({ bare, engine }) => engine / bare));
    const of = `${median(rates.map(({ engine }) => engine)).toFixed(0)} of ${median(rates.map(({ bare }) => bare)).toFixed(0)}`;
    const line = `${callers === 1 ? "one caller" : `${callers} callers`}: ${of} a second`;
    atLeast(line, ratio, LIMIT);
  }
  await engine.close();
}

/** The columns of a relationship. */
const COLUMNS = ["r_type", "r_id", "relation", "s_type", "s_id", "s_relation"];
const KEY = `${COLUMNS.map((name) => `${name} text not null`).join(", ")}, primary key (${COLUMNS.join(", ")})`;
const SIDES = ["bare", "engine"] as const;

function nextRow(): string[] {
  return ["document", nextId(), "viewer", "user", "u", ""];
}

let ids = 0;
/** In the order of their making, so that neither side's index is favoured. */
function nextId(): string {
  return `d${String(++ids).padStart(9, "0")}`;
}

async function rate(write: Write, callers: number): Promise<number> {
  const writes = WRITES * Math.min(callers, 4);
  let left = writes;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (left-- > 0) await write(caller);
    }),
  );
  return (writes / (performance.now() - begin)) * 1000;
}

if (import.meta.main) await benchAuthzWrites();
