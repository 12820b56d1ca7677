import {
  type AuthorizationEngine,
  type CallOptions,
  type CheckRequest,
  MAX_PAGE_SIZE,
  type ObjectReference,
  type Relationship,
  type RelationshipFilter,
  type SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { againAfterWrites, nextAttempt } from "./again-after-writes.ts";
import { type DecidedPath, decidePath } from "./decided-path.ts";
import { formatRelationship } from "./relationships.ts";
import type { RightsModel } from "./rights-model.ts";

/** How many questions are put to the engine at once. */
const AT_ONCE = 8;

/**
 * Reads of one decision. The first one sees what every process has written, and the others are at least as
 * fresh: rights that somebody has lost at another replica must not count.
 */
export class EngineReads {
  readonly #engine: AuthorizationEngine;
  readonly #options: CallOptions;
  #first: Promise<string> | undefined;

  /** @param options how fresh the first read is; the newest state if that is not said */
  constructor(engine: AuthorizationEngine, { newest = true, ...options }: CallOptions) {
    this.#engine = engine;
    this.#options = { newest, ...options };
  }

  /** The decisions of checks, in their order. */
  async checkAll(requests: readonly CheckRequest[]): Promise<readonly boolean[]> {
    return requests.length === 0 ? [] : this.#check(requests, await this.#fresh());
  }

  /** The same, in the newest state. */
  async checkNewest(requests: readonly CheckRequest[]): Promise<readonly boolean[]> {
    const { signal } = this.#options;
    if (requests.length === 0) return [];
    return this.#check(requests, { newest: true, ...(signal && { signal }) });
  }

  /** Decides checks, each with what allows it, in their order. */
  async paths(model: RightsModel, requests: readonly CheckRequest[]): Promise<DecidedPath[]> {
    if (requests.length === 0) return [];
    const options = await this.#fresh();
    return mapSome(requests, (request) => decidePath(this.#engine, model, request, options));
  }

  /**
   * All relationships that match a filter.
   *
   * @param most beyond it, the request is refused
   */
  async relationships(filter: RelationshipFilter, most: number): Promise<readonly Relationship[]> {
    const found = new Map<string, Relationship>();
    for await (const items of this.pages(filter)) {
      for (const item of items) found.set(formatRelationship(item), item);
      if (found.size > most) throw tooMany();
    }
    return [...found.values()];
  }

  /** The relationships that match a filter, a page at a time; some of them twice if there are writes meanwhile. */
  async *pages(filter: RelationshipFilter): AsyncGenerator<readonly Relationship[]> {
    const options = await this.#fresh();
    let cursor: string | undefined;
    for (let attempt = 1; ; ) {
      const page = cursor === undefined ? {} : { cursor };
      try {
        const read = await this.#engine.readRelationships(filter, page, options);
        yield read.items;
        if (read.nextCursor === undefined) return;
        cursor = read.nextCursor;
      } catch (error) {
        attempt = nextAttempt(attempt, error);
        cursor = undefined;
      }
    }
  }

  /** Whether any relationship matches a filter. */
  async exists(filter: RelationshipFilter): Promise<boolean> {
    const options = await this.#fresh();
    const { items } = await this.#engine.readRelationships(filter, { pageSize: 1 }, options);
    return items.length > 0;
  }

  /** The objects of a type on which a subject holds a relation; at most one more than `most`. */
  async objectsOf(
    resourceType: string,
    permission: string,
    subject: SubjectReference,
    most: number,
  ): Promise<readonly ObjectReference[]> {
    const options = await this.#fresh();
    const request = {
      resourceType,
      permission,
      subject,
      pageSize: Math.min(most + 1, MAX_PAGE_SIZE),
    };
    return againAfterWrites(async () => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = cursor === undefined ? request : { ...request, cursor };
        const { items, nextCursor } = await this.#engine.lookupResources(page, options);
        ids.push(...items);
        cursor = nextCursor;
      } while (cursor !== undefined && ids.length <= most);
      return ids.slice(0, most + 1).map((id) => ({ type: resourceType, id }));
    });
  }

  /** The revision that all reads are at least as fresh as. */
  async revision(): Promise<string> {
    this.#first ??= this.#begin();
    return this.#first;
  }

  async #check(requests: readonly CheckRequest[], options: CallOptions): Promise<boolean[]> {
    const { items } = await this.#engine.checkBulk(requests, options);
    return items.map((item) => {
      if (item.error !== undefined) throw item.error;
      return item.allowed;
    });
  }

  async #fresh(): Promise<CallOptions> {
    const atLeastAsFresh = await this.revision();
    const { signal } = this.#options;
    return { atLeastAsFresh, ...(signal && { signal }) };
  }

  async #begin(): Promise<string> {
    const filter = { resourceType: "zone", resourceId: "-" };
    const read = await this.#engine.readRelationships(filter, { pageSize: 1 }, this.#options);
    return read.revision;
  }
}

/** The refusal of a request about more than is compared. */
export function tooMany(): ServiceError {
  return new ServiceError("FORBIDDEN", "too many relationships would have to be compared");
}

/** Maps items, a few at once, in their order. */
export async function mapSome<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return results;
}
