import type {
  AuthorizationEngine,
  ObjectReference,
  Relationship,
  RelationshipFilter,
} from "svc-access/authz";

/** How many relationships one write removes: others write between two of them. */
const BATCH = 500;

/** The part of an engine that removes relationships. */
export type RemovingEngine = Pick<AuthorizationEngine, "readRelationships" | "writeRelationships">;

/**
 * Removes all relationships that name an object, as their resource, as their subject, or as a userset
 * such as `group:eng#member`. In batches, each of them a write of its own: what was removed stays
 * removed if the rest fails, and doing it again does no harm.
 *
 * @param onRemoved is told how many each batch was
 * @throws AuthzError where the engine does not answer; whatever the signal aborts with
 */
export async function removeRelationshipsOf(
  engine: RemovingEngine,
  { type, id }: ObjectReference,
  signal: AbortSignal,
  onRemoved: (count: number) => void,
): Promise<void> {
  for (const filter of [{ subject: { type, id } }, { resourceType: type, resourceId: id }]) {
    for (;;) {
      const found = await firstOf(engine, filter, signal);
      if (found.length === 0) break;
      const updates = found.map((relationship) => ({ operation: "DELETE", relationship }) as const);
      await engine.writeRelationships({ updates }, { signal });
      onRemoved(found.length);
    }
  }
}

/** The first relationships that match; a page that is not the last may be empty. */
async function firstOf(
  engine: RemovingEngine,
  filter: RelationshipFilter,
  signal: AbortSignal,
): Promise<readonly Relationship[]> {
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const page = { pageSize: BATCH, ...(cursor === undefined ? {} : { cursor }) };
    const { items, nextCursor } = await engine.readRelationships(filter, page, {
      signal,
      newest: true,
    });
    if (items.length > 0) return items;
    cursor = nextCursor;
  } while (cursor !== undefined);
  return [];
}
