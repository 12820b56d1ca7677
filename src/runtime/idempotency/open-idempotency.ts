import type { Database } from "../../database/database.ts";
import { migrate } from "../../database/service/migrate.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { Interceptor } from "../chain/interceptor.ts";
import type { TimedJob } from "../jobs/job.ts";
import { IdempotentCalls } from "./idempotent-calls.ts";
import { KEY_MIGRATIONS, type KeyTables } from "./key-table.ts";
import { StoredKeys } from "./stored-keys.ts";

/** The parts of a server that do the work of calls once. */
export interface Idempotency {
  /** The full names of the RPCs that it is for. */
  readonly rpcs: ReadonlySet<string>;
  /** Runs around the handlers of these RPCs, when the call is authorized. */
  readonly interceptor: Interceptor;
  /** Removes old keys. */
  readonly job: TimedJob;
}

const CLEAN_UP_MS = 600_000;

/** What is wrong with the names of the RPCs that take `Idempotency-Key`. */
export function idempotencyProblems(
  rpcs: readonly string[],
  methods: readonly BoundMethod[],
  hasDatabase: boolean,
): readonly string[] {
  const bound = new Map(methods.map((method) => [method.rpc, method]));
  const problems = rpcs.flatMap((rpc) => {
    const method = bound.get(rpc);
    if (method === undefined) return [`idempotentRpcs names ${rpc}, which is not bound`];
    if (method.kind !== "unary") {
      return [`idempotentRpcs names ${rpc}, which streams: a stream has no response to keep`];
    }
    if (method.policy.exposure === "PUBLIC") {
      return [`idempotentRpcs names ${rpc}, which is PUBLIC: a key belongs to a caller`];
    }
    return [];
  });
  if (rpcs.length === 0 || hasDatabase) return problems;
  return [
    ...problems,
    "idempotentRpcs needs a database for the keys: configure database, such as {driver: sqlite, file: …}",
  ];
}

/**
 * Makes the table of the keys, and what does the work of calls once.
 *
 * @throws DatabaseError with the fix
 */
export async function openIdempotency(
  rpcs: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
): Promise<Idempotency> {
  await migrate(database, KEY_MIGRATIONS);
  const store = new StoredKeys(database.as<KeyTables>());
  return {
    rpcs: new Set(rpcs),
    interceptor: new IdempotentCalls(store).intercept,
    job: {
      name: "svc_access_idempotency_keys",
      everyMs: CLEAN_UP_MS,
      deadlineMs: CLEAN_UP_MS,
      run: (signal) => store.removeExpired(signal),
    },
  };
}
