import { setImmediate as turn } from "node:timers/promises";
import type { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipStore } from "../../engine/relationship-store.ts";
import type { WriteRequest } from "../../engine/requests.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import { Committer } from "./committer.ts";
import { type Outcome, type TriedWrite, tryWrites } from "./try-writes.ts";

/**
 * The most writes that are committed together, and the most updates of a group of several writes.
 */
const MAX_GROUP_WRITES = 64;
const MAX_GROUP_UPDATES = 5000;
/** The most groups of one write between two turns of the event loop. */
const MAX_ALONE = 8;

/** A waiting write. */
interface PendingWrite extends TriedWrite {
  readonly resolve: (sequence: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes that are committed together, since most of the time is spent on the disk. */
interface Group {
  readonly writes: PendingWrite[];
  updates: number;
}

/**
 * Writes in groups, in the order of the calls: those that arrive while a commit
 * is under way are checked against memory one after the other, committed by the
 * store together, applied to memory, acknowledged.
 */
export class Writer {
  readonly #graph: RelationshipGraph;
  readonly #committer: Committer;
  #queue: Promise<unknown> = Promise.resolve();
  /** The last group of the queue, if writes may still join it. */
  #group: Group | undefined;
  /** How many writes the last group had, and how many groups of one there were since the last turn. */
  #last = 0;
  #alone = 0;

  constructor(
    graph: RelationshipGraph,
    store: RelationshipStore,
    onApplied: () => void,
    onFailed: (error: AuthzError) => void,
  ) {
    this.#graph = graph;
    this.#committer = new Committer(graph, store, onApplied, onFailed);
    store.onInterrupted?.(() => {
      this.#committer.interrupt();
      void this.settle().catch(() => undefined);
    });
  }

  /** The number of the last write in memory. */
  get sequence(): number {
    return this.#committer.sequence;
  }

  /** Why memory cannot be relied on: another process may write, or may have for too long. */
  get failure(): AuthzError | undefined {
    return this.#committer.failure;
  }

  /** Whether the store may have a write that memory lacks. */
  get isUncertain(): boolean {
    return this.#committer.isUncertain;
  }

  /** Writes; the request is valid by itself. Returns the number of the write. */
  write(request: WriteRequest, signal?: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#join(request.updates.length).push({ request, signal, resolve, reject });
    });
  }

  /** Finds out what the store contains, if that is uncertain; after the writes that have begun. */
  settle(): Promise<void> {
    this.#group = undefined;
    const result = this.#queue.then(() => this.#committer.settle());
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** The group in which a write of this many updates waits. */
  #join(updates: number): PendingWrite[] {
    let group = this.#group;
    if (
      group === undefined ||
      group.writes.length === MAX_GROUP_WRITES ||
      group.updates + updates > MAX_GROUP_UPDATES
    ) {
      const opened: Group = { writes: [], updates: 0 };
      group = this.#group = opened;
      this.#queue = this.#queue.then(() => this.#writeGroup(opened));
    }
    group.updates += updates;
    return group.writes;
  }

  /** Never rejects: every error is reported to the callers of the writes. */
  async #writeGroup(group: Group): Promise<void> {
    if (this.#isTurnDue()) await turn();
    if (this.#group === group) this.#group = undefined;
    const { writes } = group;
    this.#last = writes.length;
    let outcomes: readonly Outcome<PendingWrite>[] = [];
    let sequence: number;
    try {
      if (this.#committer.hasFailed) throw this.failure;
      if (this.isUncertain) await this.#committer.settle();
      outcomes = tryWrites(this.#graph, writes);
      ({ sequence } = this);
      const accepted = outcomes.filter(isAccepted);
      if (accepted.length > 0) {
        await this.#committer.commit(accepted.map(({ write }) => write.request.updates));
      }
    } catch (error) {
      refuseAll(writes, outcomes, error);
      return;
    }
    for (const { write, refusal } of outcomes) {
      if (refusal === undefined) write.resolve(++sequence);
      else write.reject(refusal.error);
    }
  }

  /**
   * Whether to wait for a turn of the event loop, so that writes that have already arrived can
   * join, and reads can run. A store may keep the process busy while it commits; turns take at most
   * a tenth of that time, so a single writer seldom waits for one.
   */
  #isTurnDue(): boolean {
    if (this.#last === 1 && this.#alone++ < MAX_ALONE) return false;
    this.#alone = 0;
    return true;
  }
}

function isAccepted({ refusal }: Outcome<PendingWrite>): boolean {
  return refusal === undefined;
}

/** A write that was refused after an uncommitted one may have been refused because of that one. */
function refuseAll(
  writes: readonly PendingWrite[],
  outcomes: readonly Outcome<PendingWrite>[],
  error: unknown,
): void {
  const first = outcomes.findIndex(isAccepted);
  for (const [index, { reject }] of writes.entries()) {
    const refusal = index < first ? outcomes[index]?.refusal : undefined;
    reject(refusal === undefined ? error : refusal.error);
  }
}
