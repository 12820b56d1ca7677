import type {
  AuthorizationEngine,
  CallOptions,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { againAfterWrites, isOutdated } from "../rights/again-after-writes.ts";
import { formatRelationship, formatSubject } from "../rights/relationship-text.ts";
import { type ListPosition, readListToken, writeListToken } from "./list-token.ts";

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

/**
 * Lists relationships, resource by resource in the order of their ids, so that every page and token is about
 * resources that the caller may see. Writes between two pages do not end a list: it continues after the last
 * relationship.
 */
export class RelationshipList {
  readonly #engine: AuthorizationEngine;
  readonly #options: CallOptions;

  constructor(engine: AuthorizationEngine, options: CallOptions) {
    this.#engine = engine;
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
    const from = readListToken(list, pageToken);
    const { ids, isLast, revision } = await this.#resources(listed, from);
    const found: Relationship[] = [];
    for (const id of ids) {
      const begin = id === from?.resourceId ? from : { resourceId: id };
      const filter = { resourceType, resourceId: id, ...(relation && { relation }) };
      const read = await this.#relationships(filter, begin, pageSize - found.length);
      found.push(...read.items);
      if (read.next !== undefined) {
        return { relationships: found, nextPageToken: writeListToken(list, read.next), revision };
      }
      if (found.length === pageSize && (id !== ids.at(-1) || !isLast)) {
        return {
          relationships: found,
          nextPageToken: writeListToken(list, { resourceId: id }),
          revision,
        };
      }
    }
    const last = ids.at(-1);
    const nextPageToken =
      isLast || last === undefined ? "" : writeListToken(list, { resourceId: last });
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
    const from = readListToken(list, pageToken) ?? { resourceId };
    const filter = {
      resourceType,
      ...(resourceId && { resourceId }),
      ...(relation && { relation }),
      subject: { ...subject, relation: subject.relation ?? "" },
    };
    const { items, next, revision } = await this.#relationships(filter, from, pageSize);
    return {
      relationships: items.filter((one) => isListed(one.relation)),
      nextPageToken: next === undefined ? "" : writeListToken(list, next),
      revision,
    };
  }

  /** The next resources; the first one may be that of the position. */
  async #resources(
    { resourceType, resourceId, visibleTo }: ListedRelationships,
    from: ListPosition | undefined,
  ): Promise<{
    readonly ids: readonly string[];
    readonly isLast: boolean;
    readonly revision: string;
  }> {
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
      return { ids: isDone(resourceId) ? [] : [resourceId], isLast: true, revision };
    }
    return againAfterWrites(async () => {
      const ids: string[] = [];
      let cursor: string | undefined;
      for (;;) {
        const request = { resourceType, ...visibleTo, ...(cursor && { cursor }) };
        const { items, nextCursor, revision } = await this.#engine.lookupResources(
          request,
          this.#options,
        );
        ids.push(...items.filter((id) => !isDone(id)));
        const isLast = nextCursor === undefined && ids.length <= MOST_RESOURCES;
        if (isLast || ids.length > MOST_RESOURCES) {
          return { ids: ids.slice(0, MOST_RESOURCES), isLast, revision };
        }
        cursor = nextCursor;
      }
    });
  }

  /** The next relationships of a resource; at least one more call if `next` is there. */
  async #relationships(
    filter: RelationshipFilter,
    { resourceId, after, cursor: first }: ListPosition,
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
    let skipTo = first === undefined ? after : undefined;
    for (;;) {
      const page = { pageSize: most - items.length, ...(cursor && { cursor }) };
      try {
        const read = await this.#engine.readRelationships(filter, page, this.#options);
        items.push(
          ...read.items.filter((one) => skipTo === undefined || formatRelationship(one) > skipTo),
        );
        cursor = read.nextCursor;
        revision = read.revision;
      } catch (error) {
        if (!isOutdated(error)) throw error;
        this.#assertSorted(error);
        skipTo = items.length === 0 ? after : formatRelationship(items.at(-1) as Relationship);
        cursor = undefined;
        continue;
      }
      const last = items.at(-1);
      if (cursor === undefined) return { items, revision };
      if (items.length === most && last !== undefined) {
        return { items, next: { resourceId, after: formatRelationship(last), cursor }, revision };
      }
    }
  }

  #assertSorted(cause: unknown): void {
    if (this.#engine.kind === "embedded") return;
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "page_token is too old: list again from the first page",
      { cause },
    );
  }
}
