import type { Job } from "svc-access/runtime";
import type { GroupRecords, UnfinishedGroup } from "./group-records.ts";
import type { GroupTree } from "./group-tree.ts";

/** A younger one is left to its call. It is also more than SpiceDB takes until each replica sees a write. */
const YOUNG_MS = 30_000;
/** How long after its begin a call may still be under way, if the engine was slow. */
const GRACE_MS = 600_000;
/** How many groups a run looks at. */
const MOST = 100;

/**
 * Decides the creations and deletions of groups that a process has begun and not ended. A group in its
 * zone exists: the first write of a creation puts it there, and the first of a deletion takes it away.
 */
export class UnfinishedGroups {
  readonly #records: GroupRecords;
  readonly #tree: GroupTree;

  constructor(records: GroupRecords, tree: GroupTree) {
    this.#records = records;
    this.#tree = tree;
  }

  /** Looks at all of them, each minute. */
  get job(): Job {
    return {
      name: "unfinished_groups",
      every: "1m",
      exclusive: true,
      run: (signal) => this.run(signal),
    };
  }

  /** @throws AuthzError or DatabaseError: the next run continues */
  async run(signal: AbortSignal): Promise<void> {
    for (const group of await this.#records.unfinished(MOST)) {
      if (signal.aborted) return;
      await this.#decide(group, signal);
    }
  }

  async #decide({ id, organizationId, state, age }: UnfinishedGroup, signal: AbortSignal) {
    if (age < YOUNG_MS) return;
    const isInZone = await this.#tree.isIn(id, organizationId, signal);
    const mayBeUnderWay = age < GRACE_MS;
    if (state === "creating") {
      if (isInZone) await this.#records.advance(id, ["creating"], "ready");
      else if (!mayBeUnderWay) await this.#records.discard(id);
    } else if (!isInZone) {
      await this.#records.beginRemoval(id);
    } else if (!mayBeUnderWay) {
      await this.#records.advance(id, ["deleting"], "ready");
    }
  }
}
