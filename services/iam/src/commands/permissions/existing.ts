import type { ServiceClient } from "svc-access/runtime";
import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import type { Connection } from "../connection/connection.ts";
import type { WrittenRelationship } from "../connection/references.ts";
import { ifKnown } from "../run/if-known.ts";
import { readPages } from "../run/pages.ts";
import { NEWEST } from "./newest.ts";
import { relationshipText } from "./relationship-texts.ts";

/** The most relationships that are looked through for those of one relation. */
const MOST = 10_000;

/** How many of some relationships exist. */
export interface Existing {
  readonly existing: number;
  /** Of how many that is not known: they may be more than the caller may see, or the server does not say it now. */
  readonly unknown: number;
}

/** How many of some relationships exist before they are deleted, which does not say it. */
export async function countExisting(
  connection: Connection,
  relationships: readonly WrittenRelationship[],
): Promise<Existing> {
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const relations = new Map<string, WrittenRelationship[]>();
  for (const one of relationships) {
    const key = `${one.resource.type}:${one.resource.id}#${one.relation}`;
    relations.set(key, [...(relations.get(key) ?? []), one]);
  }
  let existing = 0;
  let unknown = relationships.length;
  await ifKnown(async (signal) => {
    for (const wanted of relations.values()) {
      const count = await countOfRelation(service, wanted, signal).catch(orNotVisible);
      if (count === undefined) continue;
      existing += count;
      unknown -= wanted.length;
    }
  });
  return { existing, unknown };
}

/** Whoever may not see the relationships of an object may delete some of them all the same. */
function orNotVisible(error: { readonly code?: unknown }): undefined {
  if (error.code !== "FORBIDDEN") throw error;
}

/** Undefined where there are too many to look through. */
async function countOfRelation(
  service: ServiceClient<typeof IAMAuthorizationService>,
  wanted: readonly WrittenRelationship[],
  signal: AbortSignal,
): Promise<number | undefined> {
  const [{ resource, relation }] = wanted as readonly [WrittenRelationship];
  const { type: resourceType, id: resourceId } = resource;
  const { items, hasMore } = await readPages(MOST, async (page) => {
    const query = { ...page, resourceType, resourceId, relation, consistency: NEWEST };
    const found = await service.listRelationships(query, { signal });
    return { items: found.relationships, next: found.nextPageToken };
  });
  if (hasMore) return undefined;
  const known = new Set(items.map(relationshipText));
  return wanted.filter((one) => known.has(relationshipText(one))).length;
}
