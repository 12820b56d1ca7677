import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AuthorizationEngine,
  AuthzError,
  type CallOptions,
  ENGINE_TRAITS,
  type Page,
  type Relationship,
  type RelationshipFilter,
  type SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { againAfterWrites, isOutdated } from "../../rights/again-after-writes.ts";
import { formatRelationship, formatSubject } from "../../rights/relationships.ts";
import type { ListPosition, ListTokens } from "./list-token.ts";

/** The most resources that one page reads. */
const MOST_RESOURCES = 200;
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

/** What is listed. */
export interface ListedRelationships {
  readonly resourceType: string;
  /** Absent: of all resources on which the subject holds the permission. */
  readonly resourceId?: string;
  readonly relation?: string;
  readonly visibleTo: { readonly subject: SubjectReference; readonly permission: string };
}

/** What was granted to a set of subjects. */
export interface GrantsToSet {
  readonly resourceType: string;
  readonly resourceId?: string;
  readonly relation?: string;
  readonly subject: SubjectReference;
  /** Which relations of the type are listed. */
  readonly isListed: (relation: string) => boolean;
}

/** A page of relationships. */
export interface RelationshipPage {
  readonly relationships: readonly Relationship[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly revision: string;
}

/** A resource, and where its lookup began: there the list continues. */
interface Resource {
  readonly id: string;
  readonly lookup: string | undefined;
}

/** The next resources of a list. */
interface NextResources {
  /** Those that the subject may see. */
  readonly resources: readonly Resource[];
  /** The last one that was looked at; absent if there is none. */
  readonly last: ListPosition | undefined;
  readonly isLast: boolean;
  readonly revision: string;
}

/**
 * Lists relationships, resource by resource in the order of their ids, so that every page and token is about
 * resources that the caller may see. Writes between two pages do not end a list: it continues after the last
 * relationship.
 */
export class RelationshipList {
  readonly #engine: AuthorizationEngine;
  readonly #tokens: ListTokens;
  readonly #options: CallOptions;

  constructor(engine: AuthorizationEngine, tokens: ListTokens, options: CallOptions) {
    this.#engine = engine;
    this.#tokens = tokens;
    this.#options = options;
  }

  /** @throws ServiceError INVALID_ARGUMENT for a token that is not of this list; AuthzError */
  async page(
    listed: ListedRelationships,
    pageSize: number,
    pageToken: string,
  ): Promise<RelationshipPage> {
    const { resourceType, resourceId = "", relation = "" } = listed;
    const list = [resourceType, resourceId, relation];
    const from = this.#tokens.read(list, pageToken);
    const { resources, last, isLast, revision } = await this.#resources(listed, from);
    const found: Relationship[] = [];
    for (const { id, lookup } of resources) {
      const at = { resourceId: id, ...(lookup === undefined ? {} : { lookup }) };
      const begin = id === from?.resourceId ? { ...from, ...at } : at;
      const filter = { resourceType, resourceId: id, ...(relation && { relation }) };
      const read = await this.#relationships(filter, begin, pageSize - found.length);
      found.push(...read.items);
      if (read.next !== undefined) {
        const nextPageToken = this.#tokens.write(list, { ...read.next, ...at });
        return { relationships: found, nextPageToken, revision };
      }
      if (found.length === pageSize && (id !== last?.resourceId || !isLast)) {
        return { relationships: found, nextPageToken: this.#tokens.write(list, at), revision };
      }
    }
    const nextPageToken = isLast || last === undefined ? "" : this.#tokens.write(list, last);
    return { relationships: found, nextPageToken, revision };
  }

  /**
   * Lists what was granted to a set, on whichever resources. A page that is not the last may have fewer than were
   * asked for.
   *
   * @throws ServiceError INVALID_ARGUMENT for a token that is not of this list; AuthzError
   */
  async grantsPage(
    { resourceType, resourceId = "", relation = "", subject, isListed }: GrantsToSet,
    pageSize: number,
    pageToken: string,
  ): Promise<RelationshipPage> {
    const list = [resourceType, resourceId, relation, formatSubject(subject)];
    const from = this.#tokens.read(list, pageToken) ?? { resourceId };
    const filter = {
      resourceType,
      ...(resourceId && { resourceId }),
      ...(relation && { relation }),
      subject: { ...subject, relation: subject.relation ?? "" },
    };
    const { items, next, revision } = await this.#relationships(filter, from, pageSize);
    return {
      relationships: items.filter((one) => isListed(one.relation)),
      nextPageToken: next === undefined ? "" : this.#tokens.write(list, next),
      revision,
    };
  }

  /** The next resources; the first one may be that of the position. */
  async #resources(
    listed: ListedRelationships,
    from: ListPosition | undefined,
  ): Promise<NextResources> {
    const { resourceType, resourceId } = listed;
    const isDone = (id: string) =>
      from !== undefined &&
      (id < from.resourceId || (id === from.resourceId && from.after === undefined));
    if (resourceId !== undefined) {
      const filter = { resourceType, resourceId };
      const { revision } = await this.#engine.readRelationships(
        filter,
        { pageSize: 1 },
        this.#options,
      );
      const resources = isDone(resourceId) ? [] : [{ id: resourceId, lookup: undefined }];
      return { resources, last: { resourceId }, isLast: true, revision };
    }
    let lookup = from?.lookup;
    return againAfterWrites(async () => {
      const first = lookup;
      // It is of the state of an earlier page: if that is gone, all are looked up again.
      lookup = undefined;
      if (first !== undefined) {
        const continued = await this.#lookUp(listed, { from, first }, isDone).catch(
          orUnknownCursor,
        );
        if (continued !== undefined) return this.#stillVisible(listed, continued);
      }
      return this.#lookUp(listed, { from, first: undefined }, isDone);
    });
  }

  async #lookUp(
    { resourceType, visibleTo }: ListedRelationships,
    {
      from,
      first,
    }: { readonly from: ListPosition | undefined; readonly first: string | undefined },
    isDone: (id: string) => boolean,
  ): Promise<NextResources> {
    const found: Resource[] = [];
    let lookup = first;
    for (let reads = 1; ; reads++) {
      const request = { resourceType, ...visibleTo, ...(lookup && { cursor: lookup }) };
      const page = await this.#engine.lookupResources(request, this.#options);
      const { items, nextCursor, revision } = page;
      found.push(...items.filter((id) => !isDone(id)).map((id) => ({ id, lookup })));
      const isLast = nextCursor === undefined && found.length <= MOST_RESOURCES;
      if (isLast || found.length > MOST_RESOURCES) {
        const resources = found.slice(0, MOST_RESOURCES);
        const last = resources.at(-1);
        return {
          resources,
          last: last && { resourceId: last.id, ...(last.lookup && { lookup: last.lookup }) },
          isLast,
          revision,
        };
      }
      lookup = nextCursor;
      if (reads < MOST_SKIPS || from === undefined || lookup === undefined) continue;
      if (found.length === 0) {
        return { resources: [], last: { ...from, lookup }, isLast: false, revision };
      }
    }
  }

  /** A lookup that continues is of an earlier state, in which the subject may have held more. */
  async #stillVisible(
    { resourceType: type, visibleTo }: ListedRelationships,
    next: NextResources,
  ): Promise<NextResources> {
    const checks = next.resources.map(({ id }) => ({ resource: { type, id }, ...visibleTo }));
    if (checks.length === 0) return next;
    const { items, revision } = await this.#engine.checkBulk(checks, this.#options);
    const resources = next.resources.filter((_, index) => {
      const item = items[index];
      if (item?.error !== undefined) throw item.error;
      return item?.allowed === true;
    });
    return { ...next, resources, revision };
  }

  /** The next relationships of a resource; at least one more call if `next` is there. */
  async #relationships(
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
        const { read, fresh } = await this.#next(filter, cursor, skipTo, most - items.length);
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
  async #next(
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

/** A token may be of before a start of the engine, or of a state that is gone. */
function orUnknownCursor(error: unknown): undefined {
  if (!(error instanceof AuthzError) || error.code !== "INVALID_ARGUMENT") throw error;
  return undefined;
}

function outdated(): AuthzError {
  return new AuthzError("OUT_OF_RANGE", "relationships were written meanwhile");
}

function writtenMeanwhile(cause: unknown): ServiceError {
  const message = "relationships are written faster than they can be listed: try again";
  const options = { cause, grpcStatus: ABORTED, retryAfterSeconds: 1 };
  return ServiceError.of(409, "ABORTED", message, options);
}
