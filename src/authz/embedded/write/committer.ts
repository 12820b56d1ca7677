import { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipStore } from "../../engine/relationship-store.ts";
import type { RelationshipUpdate } from "../../engine/requests.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";

/** The updates of one write. */
export type Updates = readonly RelationshipUpdate[];

/**
 * Commits writes to the store and then applies them to memory, which is never ahead of the store.
 * If a commit fails with an unknown outcome, the store is asked before anything else is done.
 */
export class Committer {
  readonly #graph: RelationshipGraph;
  readonly #store: RelationshipStore;
  readonly #onApplied: () => void;
  #sequence: number;
  /** The writes whose commit failed with an unknown outcome. */
  #uncertain: readonly Updates[] | undefined;
  /** Since when the store may have been taken by another process. */
  #interruptedAt: number | undefined;
  #failure: AuthzError | undefined;
  readonly #onFailed: (error: AuthzError) => void;

  constructor(
    graph: RelationshipGraph,
    store: RelationshipStore,
    onApplied: () => void,
    onFailed: (error: AuthzError) => void,
  ) {
    this.#graph = graph;
    this.#store = store;
    this.#onApplied = onApplied;
    this.#onFailed = onFailed;
    this.#sequence = store.sequence;
  }

  /** The number of the last write in memory. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Why memory cannot be relied on: another process may write, or may have for too long. */
  get failure(): AuthzError | undefined {
    if (this.#failure !== undefined || this.#interruptedAt === undefined) return this.#failure;
    const { doubtLimitMs = Number.POSITIVE_INFINITY } = this.#store;
    if (performance.now() - this.#interruptedAt < doubtLimitMs) return undefined;
    return new AuthzError(
      "UNAVAILABLE",
      "it is unknown whether this process still owns the store, so its relationships may have changed",
    );
  }

  /** Whether the process must be restarted. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether the store may have a write that memory lacks. */
  get isUncertain(): boolean {
    return this.#interruptedAt !== undefined || this.#uncertain !== undefined;
  }

  /** Notes that the lock of the store may have been lost. */
  interrupt(): void {
    this.#interruptedAt ??= performance.now();
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
   * Finds out what the store contains, if that is uncertain.
   *
   * @param cause the error to throw if that is not possible now
   */
  async settle(cause?: unknown): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
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
    this.#interruptedAt = undefined;
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
    if (this.#failure !== undefined) return this.#failure;
    this.#failure = new AuthzError(
      "UNAVAILABLE",
      `this process no longer owns the store, so its relationships may have changed; restart the process${why}`,
      { cause },
    );
    this.#onFailed(this.#failure);
    return this.#failure;
  }
}
