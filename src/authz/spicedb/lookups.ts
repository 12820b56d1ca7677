import { v1 } from "@authzed/authzed-node";
import type {
  CallOptions,
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
} from "../engine.ts";
import { pageSizeOf } from "../validate-request.ts";
import { findResources, isGranted, MAX_RESULTS } from "./find-resources.ts";
import { atExactly } from "./freshness.ts";
import type { ListingCache } from "./listing-cache.ts";
import { toObject, toSubject } from "./messages.ts";
import { formatCursor, parseCursor } from "./page-cursor.ts";
import { revisionOf } from "./revision.ts";
import { readFresh, type Session } from "./session.ts";
import { decodeSpicedbId } from "./spicedb-id.ts";
import { verifySubjects } from "./verify-subjects.ts";

/** Lists the ids of the resources that a subject holds a permission on, sorted. */
export async function lookupResources(
  session: Session,
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
  session: Session,
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
        wildcardOption: v1.LookupSubjectsRequest_WildcardOption.INCLUDE_WILDCARDS,
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

/** A lookup: SpiceDB gives its results in no order, with some of them more than once. */
interface Lookup<Item> {
  /** What is looked up, for the cursor. */
  readonly key: readonly unknown[];
  readonly idOf: (item: Item) => string;
  readonly read: (
    consistency: v1.Consistency,
  ) => Promise<{ item: Item; readAt: v1.ZedToken | undefined }[]>;
}

async function page<Item>(
  session: Session,
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
