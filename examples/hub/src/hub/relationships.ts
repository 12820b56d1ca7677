import type { AuthorizationEngine, ObjectReference } from "svc-access/authz";
import { type CallContext, requirePrincipal } from "svc-access/runtime";

/** The ids of the objects of a type that the caller holds a permission on, sorted. */
export async function heldIds(
  engine: AuthorizationEngine,
  resourceType: string,
  permission: string,
  context: CallContext,
): Promise<readonly string[]> {
  const subject = { type: "user", id: requirePrincipal(context).subjectId };
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.lookupResources(
      { resourceType, permission, subject, ...(cursor === undefined ? {} : { cursor }) },
      { signal: context.signal },
    );
    ids.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids.sort();
}

/** Writes where a new object belongs and who owns it, both or none. */
export async function writeParent(
  engine: AuthorizationEngine,
  {
    resource,
    parent,
    owner,
    context,
  }: {
    readonly resource: ObjectReference;
    readonly parent: ObjectReference;
    readonly owner: string;
    readonly context: CallContext;
  },
): Promise<void> {
  await engine.writeRelationships(
    {
      updates: [
        { operation: "TOUCH", relationship: { resource, relation: "parent", subject: parent } },
        {
          operation: "TOUCH",
          relationship: { resource, relation: "owner", subject: { type: "user", id: owner } },
        },
      ],
    },
    { signal: context.signal },
  );
}
