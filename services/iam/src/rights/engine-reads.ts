import type {
  AuthorizationEngine,
  CallOptions,
  CheckRequest,
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";

/** How many questions are put to the engine at once. */
const AT_ONCE = 8;

/**
 * Reads of one decision. The first one sees what every process has written, and the others are at least as
 * fresh: rights that somebody has lost at another replica must not count.
 */
export class EngineReads {
  readonly #engine: AuthorizationEngine;
  readonly #signal: AbortSignal;
  #first: Promise<string> | undefined;

  constructor(engine: AuthorizationEngine, signal: AbortSignal) {
    this.#engine = engine;
    this.#signal = signal;
  }

  /** The decisions of checks, in their order. */
  async checkAll(requests: readonly CheckRequest[]): Promise<readonly boolean[]> {
    if (requests.length === 0) return [];
    const { items } = await this.#engine.checkBulk(requests, await this.#fresh());
    return items.map((item) => {
      if (item.error !== undefined) throw item.error;
      return item.allowed;
    });
  }

  /**
   * All relationships that match a filter.
   *
   * @param most beyond it, the request is refused
   */
  async relationships(filter: RelationshipFilter, most: number): Promise<readonly Relationship[]> {
    const found: Relationship[] = [];
    for await (const items of this.pages(filter)) {
      found.push(...items);
      if (found.length > most) throw tooMany();
    }
    return found;
  }

  /** The relationships that match a filter, a page at a time. */
  async *pages(filter: RelationshipFilter): AsyncGenerator<readonly Relationship[]> {
    const options = await this.#fresh();
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const { items, nextCursor } = await this.#engine.readRelationships(filter, page, options);
      yield items;
      cursor = nextCursor;
    } while (cursor !== undefined);
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
    const request = { resourceType, permission, subject, pageSize: Math.min(most + 1, 1000) };
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? request : { ...request, cursor };
      const { items, nextCursor } = await this.#engine.lookupResources(page, options);
      ids.push(...items);
      cursor = nextCursor;
    } while (cursor !== undefined && ids.length <= most);
    return ids.slice(0, most + 1).map((id) => ({ type: resourceType, id }));
  }

  async #fresh(): Promise<CallOptions> {
    this.#first ??= this.#newest();
    return { signal: this.#signal, atLeastAsFresh: await this.#first };
  }

  /** The revision of a state that has every acknowledged write. */
  async #newest(): Promise<string> {
    const filter = { resourceType: "zone", resourceId: "-" };
    const options = { signal: this.#signal, newest: true };
    return (await this.#engine.readRelationships(filter, { pageSize: 1 }, options)).revision;
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
