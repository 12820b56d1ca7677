import type { v1 } from "@authzed/authzed-node";
import type { CallOptions, Page, PageRequest } from "../engine.ts";
import type { Relationship } from "../relationship.ts";
import { pageSizeOf } from "../validate-request.ts";
import { atExactly } from "./freshness.ts";
import { fromRelationship } from "./messages.ts";
import { formatCursor, parseCursor } from "./page-cursor.ts";
import { revisionOf } from "./revision.ts";
import { isOwn, newestOf, type Session } from "./session.ts";

/** What such a listing is of; a filter of SpiceDB's must say something, so all is another call. */
const LISTING = ["all relationships"];

/** Lists all relationships, at the newest state. A page ends with each type, full or not. */
export async function exportRelationships(
  session: Session,
  page: PageRequest,
  { signal }: CallOptions,
): Promise<Page<Relationship>> {
  const pageSize = pageSizeOf(page);
  const cursor = page.cursor === undefined ? undefined : parseCursor(LISTING, page.cursor);
  const zedToken = cursor?.zedToken ?? (await newestOf(session, signal));
  const { connection } = session;
  const message: v1.ExportBulkRelationshipsRequest = {
    consistency: atExactly(zedToken),
    // Of each message; the second one tells whether there is more.
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
