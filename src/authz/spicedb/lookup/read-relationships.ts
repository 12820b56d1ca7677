import type { v1 } from "@authzed/authzed-node";
import { authzed } from "../../../common/drivers/authzed.ts";
import type { Relationship, RelationshipFilter } from "../../../model/relationship.ts";
import {
  type CallOptions,
  MAX_PAGE_SIZE,
  type Page,
  type PageRequest,
} from "../../engine/requests.ts";
import { invalid, pageSizeOf } from "../../engine/validate-request.ts";
import { atExactly } from "../client/freshness.ts";
import { fromRelationship, toFilter } from "../client/messages.ts";
import { isOwn, newestOf, readFresh, type SpicedbSession } from "../client/session.ts";
import { readPage } from "../client/stored-relationships.ts";
import { formatCursor, parseCursor, revisionOf } from "../client/tokens.ts";

/** Lists the relationships that match a filter, in SpiceDB's own order. */
export async function readRelationships(
  session: SpicedbSession,
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
  // For the largest page, one call cannot return one more.
  const ends = mayEnd && (pageSize < take || (await readAt(consistency, 1, after)).length === 0);
  if (ends) return { items, revision };
  return { items, revision, nextCursor: formatStored(listing, { zedToken, consistency, after }) };
}

/** Where a page begins, for SpiceDB. */
interface StoredCursor {
  readonly zedToken: string;
  /**
   * How the first page was asked for. A cursor of SpiceDB's contains its state, but SpiceDB refuses
   * it unless further pages are requested exactly like the first one.
   */
  readonly consistency: v1.Consistency;
  readonly after: string;
}

function formatStored(
  listing: readonly unknown[],
  { zedToken, consistency, after }: StoredCursor,
): string {
  const position = JSON.stringify([authzed.Consistency.toJson(consistency), after]);
  return formatCursor(listing, { zedToken, after: position });
}

function parseStored(listing: readonly unknown[], text: string): StoredCursor {
  const cursor = parseCursor(listing, text);
  try {
    const [consistency, after] = JSON.parse(cursor.after);
    return {
      zedToken: cursor.zedToken,
      consistency: authzed.Consistency.fromJson(consistency),
      after: String(after),
    };
  } catch {
    throw invalid("the cursor is malformed");
  }
}

/**
 * The request of this listing; SpiceDB does not accept an empty filter, so listing everything needs
 * other calls.
 */
const LISTING = ["all relationships"];

/** Lists all relationships, at the newest state. A page ends with each type, full or not. */
async function exportRelationships(
  session: SpicedbSession,
  page: PageRequest,
  { signal }: CallOptions,
): Promise<Page<Relationship>> {
  const pageSize = pageSizeOf(page);
  const cursor = page.cursor === undefined ? undefined : parseCursor(LISTING, page.cursor);
  const zedToken = cursor?.zedToken ?? (await newestOf(session, signal));
  const { connection } = session;
  const message: v1.ExportBulkRelationshipsRequest = {
    consistency: atExactly(zedToken),
    // For each message; the second one shows whether there is more.
    optionalLimit: pageSize,
    ...(cursor === undefined ? {} : { optionalCursor: { token: cursor.after } }),
  };
  const messages = await connection.take<v1.ExportBulkRelationshipsResponse>(signal, 2, (options) =>
    connection.client.exportBulkRelationships(message, options),
  );
  const [first, second] = messages;
  const items = (first?.relationships ?? [])
    .map(fromRelationship)
    .filter((relationship) => isOwn(session, relationship));
  const revision = revisionOf(zedToken);
  const after = first?.afterResultCursor?.token;
  if (after === undefined || !second?.relationships.length) return { items, revision };
  return { items, revision, nextCursor: formatCursor(LISTING, { zedToken, after }) };
}
