import type { Relationship } from "../../model/relationship.ts";
import type { StoreConnections } from "./engine.ts";
import type { RelationshipUpdate } from "./requests.ts";

/** One committed write. */
export interface StoredChange {
  /** The number of the write, from 1, without gaps. */
  readonly sequence: number;
  /** What was written, in its order. */
  readonly updates: readonly RelationshipUpdate[];
}

/**
 * Where the embedded engine stores its relationships. The engine has all of them in memory; the
 * store makes them durable and keeps the last changes for watchers. Only one process can hold a
 * store.
 */
export interface RelationshipStore {
  /** Distinguishes this store from all others; part of every revision token. */
  readonly id: string;

  /** What `svc-access relationship --store` takes for it, without a password; absent if it is in memory. */
  readonly address?: string | undefined;

  /** The number of the last committed write; 0 before the first. */
  readonly sequence: number;

  /** Why committed data will not last although commits succeed; absent if that cannot happen. */
  problem?(): string | undefined;

  /** Its connections at this moment; absent or undefined if it has none to a server. */
  connections?(): StoreConnections | undefined;

  /** All relationships, in batches, in no order. */
  load(): AsyncIterable<readonly Relationship[]>;

  /**
   * Commits writes in their order, all or none, numbers each, and returns the number of the last
   * once they are durable. The updates were checked: a CREATE names a relationship that does not
   * exist when its write is reached; a TOUCH and a DELETE may have nothing to do.
   *
   * @throws AuthzError UNAVAILABLE if they cannot be committed; FAILED_PRECONDITION if the
   * lock was lost. `sequence` after `recover` then shows whether they were committed.
   */
  commit(writes: readonly (readonly RelationshipUpdate[])[]): Promise<number>;

  /** The changes after a sequence number, oldest first, at most `limit`; undefined if they are no longer kept. */
  changesAfter(sequence: number, limit: number): Promise<readonly StoredChange[] | undefined>;

  /** Connects again after UNAVAILABLE, still holding or again taking the lock, and reads the sequence again. */
  recover(): Promise<void>;

  /**
   * Registers a callback that is called when the lock may have been lost, and again while
   * `recover`, which finds out, fails. Absent if a lock cannot be lost.
   */
  onInterrupted?(listener: () => void): void;

  /**
   * How long after `onInterrupted`, in milliseconds, the engine may answer from loaded data if
   * `recover` does not succeed; after that another process may have written for too long. Unlimited
   * if absent.
   */
  readonly doubtLimitMs?: number;

  /** Releases the lock. */
  close(): Promise<void>;
}
