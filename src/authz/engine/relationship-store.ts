import type { Relationship } from "../../model/relationship.ts";
import type { RelationshipUpdate } from "./engine.ts";

/** One committed write. */
export interface StoredChange {
  /** The number of the write, from 1, without gaps. */
  readonly sequence: number;
  /** What was written, in its order. */
  readonly updates: readonly RelationshipUpdate[];
}

/**
 * Where the embedded engine keeps its relationships. The engine holds all of
 * them in memory; the store makes them durable and keeps the last changes for
 * watchers. One process holds a store.
 */
export interface RelationshipStore {
  /** Tells this store from all others; part of every revision token. */
  readonly id: string;

  /** What `svc-access relationship --store` takes for it, without a password; absent where it is in memory. */
  readonly address?: string | undefined;

  /** The number of the last committed write; 0 before the first. */
  readonly sequence: number;

  /** Why what is committed will not last, though it can be committed; absent where that cannot be. */
  problem?(): string | undefined;

  /** All relationships, in batches, in no order. */
  load(): AsyncIterable<readonly Relationship[]>;

  /**
   * Commits writes in their order, all or none, numbers each, and returns the number of the
   * last once they are durable. The updates were checked: a CREATE is of what does not exist
   * when its write is reached; a TOUCH and a DELETE may find nothing to do.
   *
   * @throws AuthzError UNAVAILABLE where they cannot be committed; FAILED_PRECONDITION
   * where the lock was lost. Whether they were committed is then told by `sequence` after `recover`.
   */
  commit(writes: readonly (readonly RelationshipUpdate[])[]): Promise<number>;

  /** The changes after a sequence number, oldest first, at most `limit`; undefined where they are no longer kept. */
  changesAfter(sequence: number, limit: number): Promise<readonly StoredChange[] | undefined>;

  /** Connects again after UNAVAILABLE, still holding or again taking the lock, and reads the sequence again. */
  recover(): Promise<void>;

  /**
   * Names who is notified that the lock may have been lost, which `recover` finds out; told again
   * while that fails. Absent where a lock cannot be lost.
   */
  onInterrupted?(listener: () => void): void;

  /**
   * How long, in milliseconds after `onInterrupted`, what was loaded may still be answered with where `recover` does
   * not succeed; then another process may have written for too long. For ever where absent.
   */
  readonly doubtLimitMs?: number;

  /** Gives the lock back. */
  close(): Promise<void>;
}
