import { setImmediate as turn } from "node:timers/promises";
import { AuthzError } from "../authz-error.ts";
import type { RelationshipUpdate, WriteRequest } from "../engine.ts";
import type { Relationship } from "../relationship.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import { formatRelationship } from "../validate-request.ts";
import { abortError } from "./abort-error.ts";
import { findCycle, mayCloseCycle } from "./find-cycle.ts";
import { findEdges } from "./find-edges.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

/** The most writes that are committed together, and the most updates of them, where there is more than one. */
const MAX_GROUP_WRITES = 64;
const MAX_GROUP_UPDATES = 5000;
/** The most groups of one write between two turns of the event loop. */
const MAX_ALONE = 8;

type Updates = readonly RelationshipUpdate[];

/** A write that waits for its turn. */
interface PendingWrite {
  readonly request: WriteRequest;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes that are committed together, for it is the disk that takes long. */
interface Group {
  readonly writes: PendingWrite[];
  updates: number;
}

/** A write of a group and why it is refused, where it is. */
interface Outcome {
  readonly write: PendingWrite;
  readonly refusal: { readonly error: unknown } | undefined;
}

/**
 * Writes in groups, in the order of the calls: those that arrive while a commit
 * is under way are checked against memory one after the other, committed by the
 * store together, applied to memory, acknowledged. Memory is never ahead of the store.
 */
export class Writer {
  readonly #graph: RelationshipGraph;
  readonly #store: RelationshipStore;
  readonly #onApplied: () => void;
  #queue: Promise<unknown> = Promise.resolve();
  /** The last group of the queue, where it may still be joined. */
  #group: Group | undefined;
  /** How many writes the last group had, and how many groups of one there were since the last turn. */
  #last = 0;
  #alone = 0;
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
    store.onInterrupted?.(() => {
      this.#interrupted = true;
      void this.settle().catch(() => undefined);
    });
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

  /** Writes; the request is valid by itself. Returns the number of the write. */
  write(request: WriteRequest, signal?: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#join(request.updates.length).push({ request, signal, resolve, reject });
    });
  }

  /** Finds out what the store holds, where that is uncertain; behind the writes that were begun. */
  settle(): Promise<void> {
    this.#group = undefined;
    return this.#enqueue(() => this.#settle());
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(task);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** The group that a write of so many updates waits in. */
  #join(updates: number): PendingWrite[] {
    let group = this.#group;
    if (
      group === undefined ||
      group.writes.length === MAX_GROUP_WRITES ||
      group.updates + updates > MAX_GROUP_UPDATES
    ) {
      const opened: Group = { writes: [], updates: 0 };
      group = this.#group = opened;
      void this.#enqueue(() => this.#writeGroup(opened));
    }
    group.updates += updates;
    return group.writes;
  }

  async #writeGroup(group: Group): Promise<void> {
    await this.#gather();
    if (this.#group === group) this.#group = undefined;
    this.#last = group.writes.length;
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#settle();
    } catch (error) {
      for (const { reject } of group.writes) reject(error);
      return;
    }
    const outcomes = rehearse(this.#graph, group.writes);
    const accepted = outcomes.filter(({ refusal }) => refusal === undefined);
    let sequence = this.#sequence;
    try {
      if (accepted.length > 0)
        await this.#commit(accepted.map(({ write }) => write.request.updates));
    } catch (error) {
      // Who was refused behind a write that was not committed may have been refused because of it.
      const first = outcomes.findIndex(({ refusal }) => refusal === undefined);
      for (const [index, { write, refusal }] of outcomes.entries()) {
        write.reject(refusal !== undefined && index < first ? refusal.error : error);
      }
      return;
    }
    for (const { write, refusal } of outcomes) {
      if (refusal === undefined) write.resolve(++sequence);
      else write.reject(refusal.error);
    }
  }

  /**
   * Lets join what has arrived at the process by now, and reads have their turn. A store may
   * keep the process busy while it commits; a turn takes a tenth of that time, so one who
   * writes alone seldom waits for it.
   */
  async #gather(): Promise<void> {
    if (this.#last === 1 && this.#alone++ < MAX_ALONE) return;
    this.#alone = 0;
    await turn();
  }

  async #commit(writes: readonly Updates[]): Promise<void> {
    const before = this.#sequence;
    try {
      const head = await this.#store.commit(writes);
      if (head !== before + writes.length) throw this.#fail();
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure;
      if ((error as Partial<AuthzError>).code === "FAILED_PRECONDITION") throw this.#fail(error);
      this.#uncertain = writes;
      await this.#settle(error);
      if (this.#sequence === before) throw error;
      return;
    }
    this.#apply(writes);
  }

  /** @param cause what to throw where it cannot be found out now */
  async #settle(cause?: unknown): Promise<void> {
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
    for (const { operation, relationship } of writes.flat()) {
      if (operation === "DELETE") this.#graph.remove(relationship);
      else this.#graph.add(relationship);
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

/**
 * Tries writes in memory in their order, each on what those before have made, and takes
 * them all back, without waiting for anything in between: no read sees what is not committed.
 */
function rehearse(graph: RelationshipGraph, writes: readonly PendingWrite[]): Outcome[] {
  const made: RelationshipUpdate[] = [];
  const outcomes = writes.map((write): Outcome => {
    const mark = made.length;
    try {
      if (write.signal?.aborted) throw abortError(write.signal);
      tryWrite(graph, write.request, made);
      return { write, refusal: undefined };
    } catch (error) {
      takeBack(graph, made, mark);
      return { write, refusal: { error } };
    }
  });
  takeBack(graph, made, 0);
  return outcomes;
}

/**
 * Makes a write in memory; what it changes is added to `made`.
 *
 * @throws AuthzError where it is refused, maybe only after some of it was made
 */
function tryWrite(
  graph: RelationshipGraph,
  { updates, preconditions = [] }: WriteRequest,
  made: RelationshipUpdate[],
): void {
  for (const { kind, filter } of preconditions) {
    const matches = !findEdges(graph, filter).next().done;
    if (matches === (kind === "MUST_MATCH")) continue;
    throw new AuthzError(
      "FAILED_PRECONDITION",
      `the precondition ${kind} ${JSON.stringify(filter)} does not hold`,
    );
  }
  const added: Relationship[] = [];
  for (const update of updates) {
    const { operation, relationship } = update;
    if (operation === "DELETE" ? graph.remove(relationship) : graph.add(relationship)) {
      made.push(update);
      if (operation !== "DELETE") added.push(relationship);
    } else if (operation === "CREATE") {
      throw new AuthzError("ALREADY_EXISTS", `${formatRelationship(relationship)} exists`);
    }
  }
  const closing = added.filter((relationship) => mayCloseCycle(graph, relationship));
  const cycle = closing.length === 0 ? undefined : findCycle(graph, closing);
  if (cycle === undefined) return;
  throw new AuthzError("FAILED_PRECONDITION", `the write would close a cycle: ${cycle}`);
}

/** Takes back what was made, the last first, until so much of it is left. */
function takeBack(graph: RelationshipGraph, made: RelationshipUpdate[], left: number): void {
  for (const { operation, relationship } of made.splice(left).reverse()) {
    if (operation === "DELETE") graph.add(relationship);
    else graph.remove(relationship);
  }
}
