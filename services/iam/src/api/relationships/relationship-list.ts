import {
  type AuthorizationEngine,
  AuthzError,
  type CallOptions,
  type Relationship,
  type SubjectReference,
} from "svc-access/authz";
import { againAfterWrites } from "../../rights/again-after-writes.ts";
import { formatSubject } from "../../rights/relationships.ts";
import type { ListPosition, ListTokens } from "./list-token.ts";
import { MOST_SKIPS, RelationshipReads } from "./relationship-reads.ts";

/** The most resources that one page reads. */
const MOST_RESOURCES = 200;

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
  readonly #reads: RelationshipReads;

  constructor(engine: AuthorizationEngine, tokens: ListTokens, options: CallOptions) {
    this.#engine = engine;
    this.#tokens = tokens;
    this.#options = options;
    this.#reads = new RelationshipReads(engine, options);
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
      const read = await this.#reads.next(filter, begin, pageSize - found.length);
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
    const { items, next, revision } = await this.#reads.next(filter, from, pageSize);
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
}

/** A token may be of before a start of the engine, or of a state that is gone. */
function orUnknownCursor(error: unknown): undefined {
  if (!(error instanceof AuthzError) || error.code !== "INVALID_ARGUMENT") throw error;
  return undefined;
}
