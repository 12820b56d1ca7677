import type { v1 } from "@authzed/authzed-node";
import type { RelationshipFilter } from "../../../model/relationship.ts";
import { MAX_PAGE_SIZE } from "../../engine/requests.ts";
import { toFilter } from "./messages.ts";
import type { SpicedbSession } from "./session.ts";

/** Which part of the matching relationships is read. */
export interface PageRange {
  readonly take: number;
  /** SpiceDB's own cursor. */
  readonly after: string | undefined;
}

/** Reads a part of the relationships that match a filter, as SpiceDB's messages. */
export function readPage(
  { connection }: SpicedbSession,
  filter: RelationshipFilter,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  { take, after }: PageRange,
): Promise<v1.ReadRelationshipsResponse[]> {
  const message: v1.ReadRelationshipsRequest = {
    consistency,
    relationshipFilter: toFilter(filter),
    // Always the same: a cursor of SpiceDB's is valid with the same limit only.
    optionalLimit: MAX_PAGE_SIZE,
    ...(after === undefined ? {} : { optionalCursor: { token: after } }),
  };
  return connection.take(signal, take, (options) =>
    connection.client.readRelationships(message, options),
  );
}

/** Whether any relationship matches a filter. */
export async function isStored(
  session: SpicedbSession,
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
 * @throws AuthzError RESOURCE_EXHAUSTED if there are too many
 */
export function readStored(
  { connection }: SpicedbSession,
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
