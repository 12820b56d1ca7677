import { databaseOf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";

/** A row of whichever table. */
export interface StoredRow {
  readonly table: string;
  /** Of its values as JSON. */
  readonly bytes: number;
  /** How much longer it is kept, where it says that. */
  readonly seconds: number | undefined;
}

/** Of jobs, which begin while a test runs. */
const OF_JOBS: ReadonlySet<string> = new Set(["job_leases"]);

/** All that the database of a service has, by its text. */
export async function storedRows(service: IamService): Promise<ReadonlyMap<string, StoredRow>> {
  const { kysely } = databaseOf(service);
  const found = new Map<string, StoredRow>();
  for (const { name } of await kysely.introspection.getTables()) {
    if (OF_JOBS.has(name)) continue;
    const rows = await kysely
      .selectFrom(name as never)
      .selectAll()
      .execute();
    for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
      const text = JSON.stringify(row, textOf);
      found.set(`${name} ${text}`, {
        table: name,
        bytes: Buffer.byteLength(text),
        seconds: secondsOf(row["expire_time"]),
      });
    }
  }
  return found;
}

function textOf(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function secondsOf(time: unknown): number | undefined {
  // PostgreSQL sends whole numbers of 64 bits as text.
  const isTime = typeof time === "number" || typeof time === "string";
  return isTime ? (Number(time) - Date.now()) / 1000 : undefined;
}
