import { v1 } from "@authzed/authzed-node";
import { type CallOptions, MAX_PAGE_SIZE, type Page, type PageRequest } from "../engine.ts";
import type { Relationship, RelationshipFilter } from "../relationship.ts";
import { invalid, pageSizeOf } from "../validate-request.ts";
import { exportRelationships } from "./export-relationships.ts";
import { fromRelationship, toFilter } from "./messages.ts";
import { formatCursor, parseCursor } from "./page-cursor.ts";
import { revisionOf } from "./revision.ts";
import { isOwn, readFresh, type Session } from "./session.ts";

/** Lists the relationships that match a filter, in SpiceDB's own order. */
export async function readRelationships(
  session: Session,
  filter: RelationshipFilter,
  page: PageRequest = {},
  options: CallOptions = {},
): Promise<Page<Relationship>> {
  session.validator.filter(filter);
  if (Object.values(filter).every((part) => part === undefined)) {
    return exportRelationships(session, page, options);
  }
  const pageSize = pageSizeOf(page);
  const { signal } = options;
  const listing = ["relationships", toFilter(filter)];
  // One more than the page, to see whether it is the last one.
  const take = Math.min(pageSize + 1, MAX_PAGE_SIZE);
  const readAt = (consistency: v1.Consistency, take: number, after?: string) =>
    readPage(session, filter, consistency, signal, { take, after });

  const cursor = page.cursor === undefined ? undefined : parseStored(listing, page.cursor);
  const { messages, zedToken, consistency } =
    cursor === undefined
      ? await readFresh(
          session,
          options,
          ({ readAt }: v1.ReadRelationshipsResponse) => readAt,
          (consistency) => readAt(consistency, take),
        )
      : { ...cursor, messages: await readAt(cursor.consistency, take, cursor.after) };

  const shown = messages.slice(0, pageSize);
  const items = shown
    .map(({ relationship }) => fromRelationship(relationship))
    .filter((relationship) => isOwn(session, relationship));
  const revision = revisionOf(zedToken);
  const after = shown[pageSize - 1]?.afterResultCursor?.token;
  if (after === undefined) return { items, revision };
  const mayEnd = messages.length === pageSize;
  // Of the largest page, one more cannot be had in the same call.
  const ends = mayEnd && (pageSize < take || (await readAt(consistency, 1, after)).length === 0);
  if (ends) return { items, revision };
  return { items, revision, nextCursor: formatStored(listing, { zedToken, consistency, after }) };
}

/** Where a page begins, for SpiceDB. */
interface StoredCursor {
  readonly zedToken: string;
  /**
   * How the first page was asked for. A cursor of SpiceDB's holds the state that it lists, and is
   * refused all the same where a further page is not asked for just as the first one was.
   */
  readonly consistency: v1.Consistency;
  readonly after: string;
}

function formatStored(
  listing: readonly unknown[],
  { zedToken, consistency, after }: StoredCursor,
): string {
  const position = JSON.stringify([v1.Consistency.toJson(consistency), after]);
  return formatCursor(listing, { zedToken, after: position });
}

function parseStored(listing: readonly unknown[], text: string): StoredCursor {
  const cursor = parseCursor(listing, text);
  try {
    const [consistency, after] = JSON.parse(cursor.after);
    return {
      zedToken: cursor.zedToken,
      consistency: v1.Consistency.fromJson(consistency),
      after: String(after),
    };
  } catch {
    throw invalid("the cursor is malformed");
  }
}

/** Which part of the matching relationships is read. */
interface PageRange {
  readonly take: number;
  /** SpiceDB's own cursor. */
  readonly after: string | undefined;
}

function readPage(
  { connection }: Session,
  filter: RelationshipFilter,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  { take, after }: PageRange,
): Promise<v1.ReadRelationshipsResponse[]> {
  const message: v1.ReadRelationshipsRequest = {
    consistency,
    relationshipFilter: toFilter(filter),
    // Always the same: a cursor of SpiceDB's is of use with the same limit only.
    optionalLimit: MAX_PAGE_SIZE,
    ...(after === undefined ? {} : { optionalCursor: { token: after } }),
  };
  return connection.take(signal, take, (options) =>
    connection.client.readRelationships(message, options),
  );
}

/** Whether any relationship matches a filter. */
export async function isStored(
  session: Session,
  filter: RelationshipFilter,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const first = { take: 1, after: undefined };
  return (await readPage(session, filter, consistency, signal, first)).length > 0;
}

const MAX_STORED = 100_000;

/**
 * Reads all relationships that match a filter, as SpiceDB's messages.
 *
 * @throws AuthzError RESOURCE_EXHAUSTED where there are too many
 */
export function readStored(
  { connection }: Session,
  filter: RelationshipFilter,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<v1.ReadRelationshipsResponse[]> {
  const message: v1.ReadRelationshipsRequest = {
    consistency,
    relationshipFilter: toFilter(filter),
    optionalLimit: 0,
  };
  return connection.collect(signal, MAX_STORED, (options) =>
    connection.client.readRelationships(message, options),
  );
}
