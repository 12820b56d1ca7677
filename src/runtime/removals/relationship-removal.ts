import { AuthzError, type AuthzErrorCode } from "../../authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { Page } from "../../authz/engine/requests.ts";
import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
} from "../../model/relationship.ts";

/**
 * How many relationships are read before any is removed. An engine may order all that match for the
 * first page, and does it again after each write.
 */
const READ_AT_ONCE = 50_000;
const PAGE = 1000;
/** How many relationships one write removes: others write between two of them. */
const BATCH = 500;

/** Whose relationships are removed. */
export interface RemovedObject extends ObjectReference {
  /** The types of objects whose relationships may name it as their subject; absent, all. */
  readonly namedBy?: readonly string[] | undefined;
}

/** The part of an engine that removes relationships. */
export type RemovingEngine = Pick<AuthorizationEngine, "readRelationships" | "writeRelationships">;

/**
 * Removes relationships that name an object, as their resource, as their subject, or as a userset
 * such as `group:eng#member`: all, or the first of very many. In batches, each of them a write of its own: what
 * was removed stays removed if the rest fails, and doing it again does no harm.
 *
 * @param onRemoved receives the size of each batch
 * @returns whether it found any: then look again
 * @throws AuthzError where the engine does not answer; whatever the signal aborts with
 */
export async function removeRelationshipsOf(
  engine: RemovingEngine,
  object: RemovedObject,
  signal: AbortSignal,
  onRemoved: (count: number) => void,
): Promise<boolean> {
  let hasFound = false;
  for (const filter of filtersOf(object)) {
    const found = await firstOf(engine, filter, signal);
    for (let at = 0; at < found.length; at += BATCH) {
      const batch = found.slice(at, at + BATCH);
      const updates = batch.map((relationship) => ({ operation: "DELETE", relationship }) as const);
      await engine.writeRelationships({ updates }, { signal });
      onRemoved(batch.length);
    }
    hasFound ||= found.length > 0;
  }
  return hasFound;
}

function filtersOf({ type, id, namedBy }: RemovedObject): readonly RelationshipFilter[] {
  const subject = { type, id };
  const named = namedBy?.map((resourceType) => ({ resourceType, subject })) ?? [{ subject }];
  return [...named, { resourceType: type, resourceId: id }];
}

/** The first relationships that match, none only if there is none; a page that is not the last may be empty. */
async function firstOf(
  engine: RemovingEngine,
  filter: RelationshipFilter,
  signal: AbortSignal,
): Promise<readonly Relationship[]> {
  const found: Relationship[] = [];
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const request = { pageSize: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    let page: Page<Relationship>;
    try {
      page = await engine.readRelationships(filter, request, { signal, newest: true });
    } catch (error) {
      // Others have written since the page before: what was read is removed first.
      if (found.length > 0 && isCode(error, "OUT_OF_RANGE")) break;
      // More than the engine lists: any of them, until the rest can be listed.
      if (cursor !== undefined || !isCode(error, "RESOURCE_EXHAUSTED")) throw error;
      page = await engine.readRelationships(
        filter,
        { pageSize: PAGE, any: true },
        { signal, newest: true },
      );
    }
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < READ_AT_ONCE);
  return found;
}

function isCode(error: unknown, code: AuthzErrorCode): boolean {
  return error instanceof AuthzError && error.code === code;
}
