import type { v1 } from "@authzed/authzed-node";
import { authzed } from "../../../common/drivers/authzed.ts";
import type {
  CallOptions,
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
} from "../../engine/requests.ts";
import { pageSizeOf } from "../../engine/validate-request.ts";
import { atExactly } from "../client/freshness.ts";
import { toObject, toSubject } from "../client/messages.ts";
import { readFresh, type SpicedbSession } from "../client/session.ts";
import { decodeSpicedbId } from "../client/spicedb-id.ts";
import { formatCursor, parseCursor, revisionOf } from "../client/tokens.ts";
import { verifySubjects } from "../workarounds/wrong-subjects.ts";
import { findResources, isGranted, MAX_RESULTS } from "./find-resources.ts";

/** Lists the ids of the resources that a subject holds a permission on, sorted. */
export async function lookupResources(
  session: SpicedbSession,
  cache: ListingCache,
  request: LookupResourcesRequest,
  options: CallOptions = {},
): Promise<Page<string>> {
  session.validator.checkAny(request);
  const { resourceType, permission } = request;
  const lookup: Lookup<string> = {
    key: ["resources", resourceType, permission, toSubject(request.subject)],
    idOf: (id) => id,
    read: async (consistency) => {
      const found = await findResources(session, request, consistency, options.signal);
      return found.map(({ id, readAt }) => ({ item: id, readAt }));
    },
  };
  return page(session, cache, lookup, request, options);
}

/** Lists the subjects that hold a permission on a resource, sorted. */
export async function lookupSubjects(
  session: SpicedbSession,
  cache: ListingCache,
  request: LookupSubjectsRequest,
  options: CallOptions = {},
): Promise<Page<FoundSubject>> {
  session.validator.lookupSubjects(request);
  const { connection } = session;
  const { permission, subjectType, subjectRelation = "" } = request;
  const resource = toObject(request.resource);
  const lookup: Lookup<FoundSubject> = {
    key: ["subjects", resource, permission, subjectType, subjectRelation],
    idOf: ({ id }) => id,
    read: async (consistency) => {
      const message: v1.LookupSubjectsRequest = {
        consistency,
        resource,
        permission,
        subjectObjectType: subjectType,
        optionalSubjectRelation: subjectRelation,
        optionalConcreteLimit: 0,
        wildcardOption: authzed.LookupSubjectsRequest_WildcardOption.INCLUDE_WILDCARDS,
      };
      const messages = await connection.collect(options.signal, MAX_RESULTS, (call) =>
        connection.client.lookupSubjects(message, call),
      );
      const granted = messages.filter(({ subject }) => isGranted(subject?.permissionship));
      const token = granted[0]?.lookedUpAt?.token;
      const found = { items: granted.map(foundSubject), zedToken: token };
      const at = token === undefined ? consistency : atExactly(token);
      const verified = await verifySubjects(session, request, found, at, options.signal);
      const { items, zedToken } = verified;
      const readAt = zedToken === undefined ? undefined : { token: zedToken };
      return items.map((item) => ({ item, readAt }));
    },
  };
  return page(session, cache, lookup, request, options);
}

/** A lookup: SpiceDB returns its results unordered and with duplicates. */
interface Lookup<Item> {
  /** The request of the lookup, for the cursor. */
  readonly key: readonly unknown[];
  readonly idOf: (item: Item) => string;
  readonly read: (
    consistency: v1.Consistency,
  ) => Promise<{ item: Item; readAt: v1.ZedToken | undefined }[]>;
}

async function page<Item>(
  session: SpicedbSession,
  cache: ListingCache,
  lookup: Lookup<Item>,
  request: { readonly pageSize?: number; readonly cursor?: string },
  options: CallOptions,
): Promise<Page<Item>> {
  const pageSize = pageSizeOf(request);
  const { key, idOf } = lookup;
  const cursor = request.cursor === undefined ? undefined : parseCursor(key, request.cursor);
  let zedToken: string;
  let all: readonly Item[];
  if (cursor === undefined) {
    const listing = await readFresh(session, options, ({ readAt }) => readAt, lookup.read);
    zedToken = listing.zedToken;
    all = sorted(listing.messages, idOf);
  } else {
    zedToken = cursor.zedToken;
    all = cache.get<Item>(key, zedToken) ?? sorted(await lookup.read(atExactly(zedToken)), idOf);
  }

  const rest = cursor === undefined ? all : all.filter((item) => idOf(item) > cursor.after);
  const items = rest.slice(0, pageSize);
  const last = items.at(-1);
  const revision = revisionOf(zedToken);
  if (rest.length <= pageSize || last === undefined) return { items, revision };
  cache.set(key, zedToken, all);
  return { items, revision, nextCursor: formatCursor(key, { zedToken, after: idOf(last) }) };
}

function sorted<Item>(found: readonly { item: Item }[], idOf: (item: Item) => string): Item[] {
  const byId = new Map(found.map(({ item }) => [idOf(item), item]));
  return [...byId.values()].sort((left, right) => compare(idOf(left), idOf(right)));
}

function foundSubject({ subject, excludedSubjects }: v1.LookupSubjectsResponse): FoundSubject {
  return {
    id: decodeSpicedbId(subject?.subjectObjectId ?? ""),
    excluded: excludedSubjects
      .map(({ subjectObjectId }) => decodeSpicedbId(subjectObjectId))
      .sort(compare),
  };
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const MAX_LISTINGS = 8;
/** The most items of all listings together. */
const MAX_ITEMS = 200_000;

/**
 * The last lookups that have more pages. SpiceDB pages its lookups in no order that we could
 * sort by, so without these each page would make it look everything up again. A listing is of
 * one state, and never old.
 */
export class ListingCache {
  readonly #listings = new Map<string, readonly unknown[]>();
  #items = 0;

  /** The listing of a request at a state, if it is still cached. */
  get<Item>(request: readonly unknown[], zedToken: string): readonly Item[] | undefined {
    // The request determines the type of the items.
    return this.#listings.get(keyOf(request, zedToken)) as readonly Item[] | undefined;
  }

  set(request: readonly unknown[], zedToken: string, items: readonly unknown[]): void {
    const key = keyOf(request, zedToken);
    this.#remove(key);
    this.#listings.set(key, items);
    this.#items += items.length;
    for (const oldest of this.#listings.keys()) {
      if (this.#listings.size <= MAX_LISTINGS && this.#items <= MAX_ITEMS) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#items -= this.#listings.get(key)?.length ?? 0;
    this.#listings.delete(key);
  }
}

function keyOf(request: readonly unknown[], zedToken: string): string {
  return JSON.stringify([request, zedToken]);
}
