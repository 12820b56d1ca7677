import {
  type AuthorizationEngine,
  AuthzError,
  MAX_UPDATES,
  type ObjectReference,
  type Relationship,
} from "svc-access/authz";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";

/** The caller as a subject of the authorization model: a person, or a service. */
export function callerOf(context: CallContext): ObjectReference {
  const { subjectType: type, subjectId: id } = requirePrincipal(context);
  return { type, id };
}

/** The objects of a list at most: of a part of them nobody would see that it is one. */
const MOST_HELD = 100_000;

/**
 * The ids of the objects of a type that the caller holds a permission on.
 *
 * @throws ServiceError FAILED_PRECONDITION if there are too many to list
 */
export async function heldIds(
  engine: AuthorizationEngine,
  { resourceType, permission }: { readonly resourceType: string; readonly permission: string },
  context: CallContext,
): Promise<string[]> {
  const request = { resourceType, permission, subject: callerOf(context) };
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.lookupResources(
      { ...request, ...(cursor === undefined ? {} : { cursor }) },
      { signal: context.signal },
    );
    ids.push(...page.items);
    if (ids.length > MOST_HELD) {
      throw new ServiceError("FAILED_PRECONDITION", "you hold too many objects to list them");
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}

/**
 * Writes where a new object belongs, and that the caller owns it. Of two who create the same
 * object at the same time, one is refused.
 */
export async function placeObject(
  engine: AuthorizationEngine,
  resource: ObjectReference,
  parent: ObjectReference,
  context: CallContext,
): Promise<void> {
  const relationships: Relationship[] = [
    { resource, relation: "parent", subject: parent },
    { resource, relation: "owner", subject: callerOf(context) },
  ];
  const isNew = { resourceType: resource.type, resourceId: resource.id };
  try {
    await engine.writeRelationships(
      {
        updates: relationships.map((relationship) => ({ operation: "TOUCH", relationship })),
        preconditions: [{ kind: "MUST_NOT_MATCH", filter: isNew }],
      },
      { signal: context.signal },
    );
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== "FAILED_PRECONDITION") throw error;
    const message = `the ${resource.type} ${resource.id} exists`;
    throw new ServiceError("ALREADY_EXISTS", message, { cause: error });
  }
}

/** Deletes all relationships of an object, so that a later one of the same id inherits none. */
export async function forgetObject(
  engine: AuthorizationEngine,
  { type, id }: ObjectReference,
  { signal }: CallContext,
): Promise<void> {
  const filter = { resourceType: type, resourceId: id };
  for (;;) {
    const { items } = await engine.readRelationships(filter, { pageSize: MAX_UPDATES }, { signal });
    if (items.length === 0) return;
    const updates = items.map((relationship) => ({ operation: "DELETE" as const, relationship }));
    await engine.writeRelationships({ updates }, { signal });
  }
}
