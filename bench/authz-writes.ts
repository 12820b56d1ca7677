/** Durable writes of the embedded engine against the bare store's one-row commits, in turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmbeddedEngine } from "../src/authz/embedded/index.ts";
import { openSqliteStore } from "../src/authz/store/open-sqlite-store.ts";
import { parseModel } from "../src/model/index.ts";

const WRITES = 3_000;
const ROUNDS = 5;
const SCHEMA = `definition user {}
definition document {
  relation viewer: user
}
`;

/** Prints the ratio of the medians. */
export async function benchAuthzWrites(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-writes-"));
  try {
    const database = new DatabaseSync(join(folder, "bare.db"));
    database.exec(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE row (id TEXT PRIMARY KEY)",
    );
    const insert = database.prepare("INSERT INTO row VALUES (?)");
    const engine = await createEmbeddedEngine({
      model: parseModel(SCHEMA, "bench.zed").model,
      store: await openSqliteStore({ file: join(folder, "engine.db") }),
    });
    const rates: Record<"bare" | "one" | "sixteen", number[]> = { bare: [], one: [], sixteen: [] };
    let next = 0;
    const write = () =>
      engine.writeRelationships({
        updates: [
          {
            operation: "CREATE",
            relationship: {
              resource: { type: "document", id: `d${next++}` },
              relation: "viewer",
              subject: { type: "user", id: "u" },
            },
          },
        ],
      });
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await rate(async () => void insert.run(`r${next++}`), 1));
      rates.one.push(await rate(write, 1));
      rates.sixteen.push(await rate(write, 16));
    }
    await engine.close();
    database.close();
    const bare = middle(rates.bare);
    process.stdout.write(
      `\nauthz-writes: SQLite, WAL, synchronous=FULL; ${bare.toFixed(0)} bare one-row commits a second\n`,
    );
    for (const [callers, values] of [
      ["one caller", rates.one],
      ["16 callers", rates.sixteen],
    ] as const) {
      const value = middle(values);
      const verdict = value / bare >= 0.7 ? "holds" : "DOES NOT HOLD";
      process.stdout.write(
        `  ${`${callers}: ${value.toFixed(0)} writes a second, of bare`.padEnd(44)} ${(value / bare).toFixed(3)}    at least 0.7  ${verdict}\n`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function rate(write: () => Promise<unknown>, callers: number): Promise<number> {
  let left = WRITES;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) await write();
    }),
  );
  return (WRITES / (performance.now() - begin)) * 1000;
}

function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) await benchAuthzWrites();
