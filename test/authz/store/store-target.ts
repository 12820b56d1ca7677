import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import type { RelationshipStore } from "../../../src/authz/engine/relationship-store.ts";
import type { RelationshipUpdate, WriteOperation } from "../../../src/authz/engine/requests.ts";
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../../src/authz/store/postgres/open-postgres-store.ts";
import {
  openSqliteStore,
  type SqliteStoreOptions,
} from "../../../src/authz/store/sqlite/open-sqlite-store.ts";
import type { Relationship } from "../../../src/model/relationship.ts";
import { until } from "../../support/until.ts";

/** The location of a store, in a form that can be passed to a child process. */
export type StoreTarget =
  | { readonly sqlite: SqliteStoreOptions }
  | { readonly postgres: PostgresStoreOptions };

/** Opens a store, with options that the target does not have. */
export function openTarget(
  target: StoreTarget,
  options: { readonly retention?: number } = {},
): Promise<RelationshipStore> {
  return "sqlite" in target
    ? openSqliteStore({ ...target.sqlite, ...options })
    : openPostgresStore({ ...target.postgres, ...options });
}

/** Opens a store that a killed process has just held: a server needs a moment to notice. */
export async function openSoon(target: StoreTarget): Promise<RelationshipStore> {
  let store: RelationshipStore | undefined;
  let why = "";
  await until(
    () => `the store can be opened: ${why}`,
    async () => {
      try {
        store = await openTarget(target);
      } catch (error) {
        if (!(error instanceof AuthzError)) throw error;
        why = error.message;
      }
      return store !== undefined;
    },
  );
  return store as RelationshipStore;
}

/** A child process and its lines of output. */
export interface Child {
  readonly process: ChildProcess;
  readonly lines: AsyncIterator<string>;
}

/** Starts a process that holds a store. */
export function startChild(
  target: StoreTarget & { user?: number },
  mode: "hold" | "write" | "revoke",
): Child {
  const script = fileURLToPath(new URL("child-store.ts", import.meta.url));
  const process_ = spawn(process.execPath, [script, JSON.stringify(target), mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  return { process: process_, lines };
}

/** Kills a child as the kernel does, and waits for its end. */
export async function kill({ process: child }: Child): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** A relationship of a document to a user. */
export function relationship(id: string, user: string, relation?: string): Relationship {
  return {
    resource: { type: "document", id },
    relation: "viewer",
    subject:
      relation === undefined ? { type: "user", id: user } : { type: "group", id: user, relation },
  };
}

export const update = (
  operation: WriteOperation,
  id: string,
  user: string,
  relation?: string,
): RelationshipUpdate => ({ operation, relationship: relationship(id, user, relation) });
export const touch = (id: string, user: string) => update("TOUCH", id, user);
export const create = (id: string, user: string) => update("CREATE", id, user);
export const remove = (id: string, user: string) => update("DELETE", id, user);

/** All relationships of a store as text, sorted. */
export async function contents(store: RelationshipStore): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of store.load()) {
    for (const { resource, subject } of batch) {
      const relation = subject.relation === undefined ? "" : `#${subject.relation}`;
      found.push(`${resource.id}@${subject.type}:${subject.id}${relation}`);
    }
  }
  return found.sort();
}
