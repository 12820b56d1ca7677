import { AuthzError } from "../authz-error.ts";
import type { RelationshipUpdate, WriteRequest } from "../engine.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import { formatRelationship } from "../validate-request.ts";
import { abortError } from "./abort-error.ts";
import { findCycle, mayCloseCycle } from "./find-cycle.ts";
import { findEdges } from "./find-edges.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

/** A write whose commit failed without saying whether it happened. */
interface Uncertain {
  readonly sequence: number;
  readonly updates: readonly RelationshipUpdate[];
}

/**
 * Writes one after the other: checked against memory, committed by the store,
 * applied to memory, acknowledged. Memory is never ahead of the store.
 */
export class Writer {
  readonly #graph: RelationshipGraph;
  readonly #store: RelationshipStore;
  readonly #onApplied: () => void;
  #queue: Promise<unknown> = Promise.resolve();
  #sequence: number;
  #uncertain: Uncertain | undefined;
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

  /** Whether a write may have been committed that memory does not hold. */
  get isUncertain(): boolean {
    return this.#uncertain !== undefined;
  }

  /** Writes; the request is valid by itself. Returns the number of the write. */
  write(request: WriteRequest, signal?: AbortSignal): Promise<number> {
    return this.#enqueue(() => this.#write(request, signal));
  }

  /** Finds out about a write whose commit failed, where there is one. */
  settle(): Promise<void> {
    return this.#enqueue(() => this.#settle());
  }

  #enqueue<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(task);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #write(
    { updates, preconditions = [] }: WriteRequest,
    signal?: AbortSignal,
  ): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure;
    if (signal?.aborted) throw abortError(signal);
    await this.#settle();
    for (const { kind, filter } of preconditions) {
      const matches = !findEdges(this.#graph, filter).next().done;
      if (matches === (kind === "MUST_MATCH")) continue;
      throw new AuthzError(
        "FAILED_PRECONDITION",
        `the precondition ${kind} ${JSON.stringify(filter)} does not hold`,
      );
    }
    for (const { operation, relationship } of updates) {
      if (operation !== "CREATE" || !this.#graph.has(relationship)) continue;
      throw new AuthzError("ALREADY_EXISTS", `${formatRelationship(relationship)} exists`);
    }
    this.#refuseCycles(updates);
    await this.#commit(updates);
    return this.#sequence;
  }

  async #commit(updates: readonly RelationshipUpdate[]): Promise<void> {
    const sequence = this.#sequence + 1;
    try {
      const stored = await this.#store.commit(updates);
      if (stored.sequence !== sequence) throw this.#fail();
    } catch (error) {
      const { code } = error as Partial<AuthzError>;
      if (code === "FAILED_PRECONDITION") this.#fail(error);
      if (code !== "UNAVAILABLE" || this.#failure !== undefined) throw error;
      this.#uncertain = { sequence, updates };
      await this.#settle(error);
      if (this.#sequence !== sequence) throw error;
      return;
    }
    this.#apply(sequence, updates);
  }

  /** @param cause what to throw where it cannot be found out now */
  async #settle(cause?: unknown): Promise<void> {
    if (this.#uncertain === undefined) return;
    const { sequence, updates } = this.#uncertain;
    try {
      await this.#store.recover();
    } catch (error) {
      if ((error as Partial<AuthzError>).code === "FAILED_PRECONDITION") this.#fail(error);
      throw cause ?? error;
    }
    if (this.#store.sequence !== sequence && this.#store.sequence !== sequence - 1) {
      throw this.#fail();
    }
    this.#uncertain = undefined;
    if (this.#store.sequence === sequence) this.#apply(sequence, updates);
  }

  #apply(sequence: number, updates: readonly RelationshipUpdate[]): void {
    for (const { operation, relationship } of updates) {
      if (operation === "DELETE") this.#graph.remove(relationship);
      else this.#graph.add(relationship);
    }
    this.#sequence = sequence;
    this.#onApplied();
  }

  #fail(cause?: unknown): AuthzError {
    this.#failure ??= new AuthzError(
      "UNAVAILABLE",
      "the store is no longer this process's own, so its relationships may have changed; start the process anew",
      { cause },
    );
    return this.#failure;
  }

  /** Tries the updates in memory and takes them back, without waiting for anything in between. */
  #refuseCycles(updates: readonly RelationshipUpdate[]): void {
    const added = updates
      .filter(({ operation }) => operation !== "DELETE")
      .map(({ relationship }) => relationship)
      .filter((relationship) => !this.#graph.has(relationship))
      .filter((relationship) => mayCloseCycle(this.#graph, relationship));
    if (added.length === 0) return;
    const removed = updates
      .filter(({ operation }) => operation === "DELETE")
      .map(({ relationship }) => relationship)
      .filter((relationship) => this.#graph.remove(relationship));
    for (const relationship of added) this.#graph.add(relationship);
    const cycle = findCycle(this.#graph, added);
    for (const relationship of added) this.#graph.remove(relationship);
    for (const relationship of removed) this.#graph.add(relationship);
    if (cycle === undefined) return;
    throw new AuthzError("FAILED_PRECONDITION", `the write would close a cycle: ${cycle}`);
  }
}
