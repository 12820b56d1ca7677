import { hostname } from "node:os";
import { type Kysely, sql } from "kysely";
import type { TableChange } from "../../database/tables.ts";
import { AuthzError } from "../engine/authz-error.ts";
import { migrate } from "./migrations.ts";
import type { StoreDatabase } from "./store-database.ts";
import type { Tables } from "./tables.ts";

/** The state of a store that a process holds. */
export interface Ownership {
  readonly storeId: string;
  /** The sequence number of the last write. */
  readonly head: number;
  /** The number of this process among those that held the store. */
  readonly epoch: number;
}

/**
 * Makes this process the store's holder after its lock was taken. The new epoch fences off a
 * previous holder that does not know that it lost the lock: no commit of an earlier epoch succeeds.
 */
export async function claim(database: StoreDatabase): Promise<Ownership> {
  await migrate(database);
  return take(database);
}

/**
 * Makes the tables of a store, or migrates them to this version, as its holder meanwhile.
 *
 * @throws AuthzError if another process holds the store, or as opening it does
 */
export async function migrateStore(database: StoreDatabase): Promise<TableChange> {
  try {
    await database.connect();
    const change = await migrate(database);
    const { epoch } = await take(database);
    await release(database, epoch);
    return change;
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

async function take(database: StoreDatabase): Promise<Ownership> {
  const row = await database.writer
    .updateTable("meta")
    .set({ epoch: sql<number>`epoch + 1`, holder: JSON.stringify(thisProcess()) })
    .returning(["store_id", "epoch"])
    .executeTakeFirstOrThrow();
  const { store_id: storeId, epoch } = row;
  // After the new epoch: no commit of an earlier one comes in between.
  return { storeId, head: await readHead(database), epoch: Number(epoch) };
}

/** The epoch and the head of the store now, regardless of the process that holds it. */
export async function readState(
  connection: Kysely<Tables>,
): Promise<{ readonly epoch: number; readonly head: number }> {
  const row = await connection
    .selectFrom("meta")
    .select((eb) => [
      "epoch",
      eb
        .selectFrom("changes")
        .select((eb) => eb.fn.max("sequence").as("head"))
        .as("head"),
    ])
    .executeTakeFirstOrThrow();
  return { epoch: Number(row.epoch), head: Number(row.head ?? 0) };
}

/** Reads a store again whose lock this process never lost. */
export async function readOwnership(database: StoreDatabase, epoch: number): Promise<Ownership> {
  const row = await database.writer
    .selectFrom("meta")
    .select(["store_id", "epoch", "holder"])
    .executeTakeFirstOrThrow();
  if (Number(row.epoch) !== epoch) throw lostError(database.name, parseHolder(row.holder));
  return { storeId: row.store_id, head: await readHead(database), epoch };
}

/** The number of the last write. */
async function readHead(database: StoreDatabase): Promise<number> {
  const { head } = await database.writer
    .selectFrom("changes")
    .select((eb) => eb.fn.max("sequence").as("head"))
    .executeTakeFirstOrThrow();
  return Number(head ?? 0);
}

/** Records that nobody holds the store; best effort, since the lock itself decides. */
export async function release(database: StoreDatabase, epoch: number): Promise<void> {
  await database.writer
    .updateTable("meta")
    .set({ holder: "" })
    .where("epoch", "=", epoch)
    .execute()
    .catch(() => undefined);
}

/** Who holds a store. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/** This process as a holder from now on. */
function thisProcess(): LockHolder {
  return { host: hostname(), pid: process.pid, since: new Date().toISOString() };
}

/** Reads the holder from the store; undefined if it has none. */
export function parseHolder(text: string | undefined): LockHolder | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const { host, pid, since } = JSON.parse(text) as Partial<LockHolder>;
    if (host === undefined || pid === undefined || since === undefined) return undefined;
    return { host, pid, since };
  } catch {
    return undefined;
  }
}

/** The refusal of a store that another process holds. */
export function heldError(store: string, holder: LockHolder | undefined): AuthzError {
  const by =
    holder === undefined
      ? "by another process"
      : `by process ${holder.pid} on ${holder.host} since ${holder.since}`;
  return new AuthzError(
    "FAILED_PRECONDITION",
    `${store} is held ${by}: stop that process first; only one process can hold a store`,
  );
}

/** The refusal of a commit after another process has taken the store. */
export function lostError(store: string, holder: LockHolder | undefined): AuthzError {
  const by =
    holder === undefined
      ? "another process"
      : `process ${holder.pid} on ${holder.host}, since ${holder.since}`;
  return new AuthzError("FAILED_PRECONDITION", `the lock of ${store} was lost to ${by}`);
}
