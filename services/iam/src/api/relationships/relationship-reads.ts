import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AuthorizationEngine,
  AuthzError,
  type CallOptions,
  ENGINE_TRAITS,
  type Page,
  type Relationship,
  type RelationshipFilter,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { isOutdated } from "../../rights/again-after-writes.ts";
import { formatRelationship } from "../../rights/relationships.ts";
import type { ListPosition } from "./list-token.ts";

/** How often the relationships of a resource are read again from their beginning because of writes. */
const MOST_RESTARTS = 10;
/** How many relationships one read skips: the most that a page of an engine has. */
const SKIPPED = 1000;
/**
 * How many reads of a call skip what was listed before; then it returns an empty page, and the next one continues. A
 * token of a state that is gone would otherwise cost as much as the whole list is long, as often as it is sent.
 */
export const MOST_SKIPS = 50;
/** The status of gRPC for calls that may succeed when they are repeated. */
const ABORTED = 10;

/** Reads relationships in the order of their texts, page by page, through writes between the pages and during them. */
export class RelationshipReads {
  readonly #engine: AuthorizationEngine;
  readonly #options: CallOptions;

  constructor(engine: AuthorizationEngine, options: CallOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** The next relationships of a resource; at least one more call if `next` is there. */
  async next(
    filter: RelationshipFilter,
    { resourceId, after, cursor: first, isSkipping = false }: ListPosition,
    most: number,
  ): Promise<{
    readonly items: readonly Relationship[];
    readonly next?: ListPosition;
    readonly revision: string;
  }> {
    const items: Relationship[] = [];
    let cursor = first;
    let revision = "";
    // The engine's order is that of the texts only if it says so; there a list continues after its last item.
    let skipTo = first === undefined || isSkipping ? after : undefined;
    let skips = 0;
    for (let restarts = 0; ; ) {
      try {
        if (skipTo !== undefined) skips++;
        const { read, fresh } = await this.#page(filter, cursor, skipTo, most - items.length);
        items.push(...fresh);
        if (fresh.length > 0) skipTo = undefined;
        cursor = read.nextCursor;
        revision = read.revision;
      } catch (error) {
        if (!isOutdated(error)) throw error;
        this.#assertSorted(error);
        if (++restarts > MOST_RESTARTS) throw writtenMeanwhile(error);
        skipTo = items.length === 0 ? after : formatRelationship(items.at(-1) as Relationship);
        cursor = undefined;
        continue;
      }
      const last = items.at(-1);
      if (cursor === undefined) return { items, revision };
      if (items.length === most && last !== undefined) {
        return { items, next: { resourceId, after: formatRelationship(last), cursor }, revision };
      }
      if (skipTo !== undefined && skips >= MOST_SKIPS) {
        return { items, next: { resourceId, after: skipTo, cursor, isSkipping: true }, revision };
      }
    }
  }

  /**
   * Reads the next page, and says which of it are after those to skip: at most as many as are asked for. Pages of
   * those to skip are large, and other calls have a turn between them, so that a token for the end of a long list
   * takes little of the process.
   */
  async #page(
    filter: RelationshipFilter,
    cursor: string | undefined,
    skipTo: string | undefined,
    most: number,
  ): Promise<{ readonly read: Page<Relationship>; readonly fresh: readonly Relationship[] }> {
    const pageOf = (pageSize: number) =>
      this.#engine.readRelationships(
        filter,
        { pageSize, ...(cursor && { cursor }) },
        this.#options,
      );
    if (skipTo === undefined) {
      const read = await pageOf(most);
      return { read, fresh: read.items };
    }
    const read = await pageOf(SKIPPED);
    const fresh = read.items.filter((one) => formatRelationship(one) > skipTo);
    if (fresh.length <= most) {
      if (fresh.length === 0) await nextTurn();
      return { read, fresh };
    }
    // A cursor is for the end of a page, so the page is read again up to where this list ends.
    const skipped = read.items.length - fresh.length;
    const again = await pageOf(skipped + most);
    // After a write, another number may be skipped.
    if (again.revision !== read.revision) throw outdated();
    return { read: again, fresh: fresh.slice(0, most) };
  }

  #assertSorted(cause: unknown): void {
    if (ENGINE_TRAITS[this.#engine.kind].readsInOrder) return;
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "page_token is too old: list again from the first page",
      { cause },
    );
  }
}

function outdated(): AuthzError {
  return new AuthzError("OUT_OF_RANGE", "relationships were written meanwhile");
}

function writtenMeanwhile(cause: unknown): ServiceError {
  const message = "relationships are written faster than they can be listed: try again";
  const options = { cause, grpcStatus: ABORTED, retryAfterSeconds: 1 };
  return ServiceError.of(409, "ABORTED", message, options);
}
