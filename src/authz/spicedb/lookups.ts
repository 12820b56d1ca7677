import { v1 } from "@authzed/authzed-node";
import type {
  CallOptions,
  CheckAnyRequest,
  FoundSubject,
  LookupResourcesRequest,
  LookupSubjectsRequest,
  Page,
} from "../engine.ts";
import { pageSizeOf } from "../validate-request.ts";
import { atExactly } from "./freshness.ts";
import type { ListingCache } from "./listing-cache.ts";
import { toObject, toSubject } from "./messages.ts";
import { formatCursor, parseCursor } from "./page-cursor.ts";
import { revisionOf } from "./revision.ts";
import { readFresh, type Session } from "./session.ts";
import { decodeSpicedbId } from "./spicedb-id.ts";
import { verifySubjects } from "./verify-subjects.ts";

/** The most results of a lookup, over all its pages. */
const MAX_RESULTS = 100_000;

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
      const messages = await findResources(session, request, consistency, options.signal);
      return messages
        .filter(({ permissionship }) => isGranted(permissionship))
        .map((found) => ({
          item: decodeSpicedbId(found.resourceObjectId),
          readAt: found.lookedUpAt,
        }));
    },
  };
  return page(session, cache, lookup, request, options);
}

/** What SpiceDB finds of the resources that a subject holds a permission on; only the first with `limit`. */
export function findResources(
  { connection }: Session,
  { resourceType, permission, subject }: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  limit = 0,
): Promise<v1.LookupResourcesResponse[]> {
  const message: v1.LookupResourcesRequest = {
    consistency,
    resourceObjectType: resourceType,
    permission,
    subject: toSubject(subject),
    optionalLimit: limit,
  };
  return connection.collect(signal, MAX_RESULTS, (call) =>
    connection.client.lookupResources(message, call),
  );
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
      const readAt = granted[0]?.lookedUpAt;
      const found = granted.map(foundSubject);
      if (readAt === undefined) return [];
      const { signal } = options;
      const verified = await verifySubjects(session, request, found, readAt.token, signal);
      return verified.map((item) => ({ item, readAt }));
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

/** Whether what was found is held without a condition. */
export function isGranted(permissionship: v1.LookupPermissionship | undefined): boolean {
  return permissionship === v1.LookupPermissionship.HAS_PERMISSION;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
