import { AuthzError } from "../authz-error.ts";
import type { RelationshipUpdate } from "../engine.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

/** The updates of one write. */
export type Updates = readonly RelationshipUpdate[];

/**
 * Commits writes to the store and then applies them to memory, which is never ahead of the
 * store. Where a commit fails without saying whether it happened, the store is asked before
 * anything else is done.
 */
export class Committer {
  readonly #graph: RelationshipGraph;
  readonly #store: RelationshipStore;
  readonly #onApplied: () => void;
  #sequence: number;
  /** The writes whose commit failed without saying whether it happened. */
  #uncertain: readonly Updates[] | undefined;
  /** Whether the store may have been taken by another process. */
  #interrupted = false;
  #failure: AuthzError | undefined;

  constructor(graph: RelationshipGraph, store: RelationshipStore, onApplied: () => void) {
    this.#graph = graph;
    this.#store = store;
    this.#onApplied = onApplied;
    this.#sequence = store.sequence;
  }

  /** The number of the last write that memory holds. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Why memory can be relied on no longer: another process may write. */
  get failure(): AuthzError | undefined {
    return this.#failure;
  }

  /** Whether the store may hold a write that memory does not. */
  get isUncertain(): boolean {
    return this.#interrupted || this.#uncertain !== undefined;
  }

  /** Notes that the lock of the store may have been lost. */
  interrupt(): void {
    this.#interrupted = true;
  }

  /** Commits writes that were tried, and applies them. Not while another commit is under way. */
  async commit(writes: readonly Updates[]): Promise<void> {
    const before = this.#sequence;
    try {
      const head = await this.#store.commit(writes);
      if (head !== before + writes.length) throw this.#fail();
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure;
      if ((error as Partial<AuthzError>).code === "FAILED_PRECONDITION") throw this.#fail(error);
      this.#uncertain = writes;
      await this.settle(error);
      if (this.#sequence === before) throw error;
      return;
    }
    this.#apply(writes);
  }

  /**
   * Finds out what the store holds, where that is uncertain.
   *
   * @param cause what to throw where it cannot be found out now
   */
  async settle(cause?: unknown): Promise<void> {
    if (!this.isUncertain) return;
    try {
      await this.#store.recover();
    } catch (error) {
      if ((error as Partial<AuthzError>).code === "FAILED_PRECONDITION") throw this.#fail(error);
      throw cause ?? error;
    }
    const writes = this.#uncertain ?? [];
    const committed = this.#store.sequence - this.#sequence;
    if (committed !== 0 && committed !== writes.length) throw this.#fail();
    this.#uncertain = undefined;
    this.#interrupted = false;
    if (committed > 0) this.#apply(writes);
  }

  #apply(writes: readonly Updates[]): void {
    for (const updates of writes) {
      for (const { operation, relationship } of updates) {
        if (operation === "DELETE") this.#graph.remove(relationship);
        else this.#graph.add(relationship);
      }
    }
    this.#sequence += writes.length;
    this.#onApplied();
  }

  #fail(cause?: unknown): AuthzError {
    const why = cause instanceof Error ? ` (${cause.message})` : "";
    this.#failure ??= new AuthzError(
      "UNAVAILABLE",
      `the store is no longer this process's own, so its relationships may have changed; start the process anew${why}`,
      { cause },
    );
    return this.#failure;
  }
}
