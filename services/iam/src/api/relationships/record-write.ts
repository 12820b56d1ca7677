import type { RelationshipUpdate } from "svc-access/authz";
import type { CallContext } from "svc-access/runtime";
import { formatRelationship, objectText } from "../../rights/relationships.ts";

/** How many values an event of the audit has. */
const AT_ONCE = 16;
const EVENTS = {
  DELETE: "relationships.deleted",
  CREATE: "relationships.written",
  TOUCH: "relationships.written",
} as const;

/** Records what was written, in as few events as possible; a call names its resource if it has only one. */
export async function recordWrite(
  updates: readonly RelationshipUpdate[],
  { audit }: CallContext,
): Promise<void> {
  const resources = new Set(updates.map(({ relationship }) => objectText(relationship.resource)));
  const [only] = resources;
  if (resources.size === 1 && only !== undefined) audit.setResource(only);
  for (const event of new Set(Object.values(EVENTS))) {
    const texts = updates
      .filter(({ operation }) => EVENTS[operation] === event)
      .map(({ relationship }) => formatRelationship(relationship));
    for (let start = 0; start < texts.length; start += AT_ONCE) {
      const some = texts.slice(start, start + AT_ONCE);
      await audit.record({
        event,
        riskLevel: "HIGH",
        ...(resources.size === 1 && only !== undefined ? { resource: only } : {}),
        details: Object.fromEntries(some.map((text, index) => [`relationship_${index + 1}`, text])),
      });
    }
  }
}
