import type { OrganizationCreations } from "./organization-creations.ts";
import type { OrganizationRecords } from "./organization-records.ts";

/** What became of the organization of the configuration: it exists, another call creates it, or it was deleted. */
export type ConfiguredOrganization = "exists" | "under_way" | "deleted";

/**
 * Creates `iam.organization` if there is none. A creation with an owner that is under way is left alone: it would find
 * the organization made, and be refused although its owner is stored.
 */
export async function ensureOrganization(
  id: string,
  records: Pick<OrganizationRecords, "find">,
  creations: Pick<OrganizationCreations, "create">,
): Promise<ConfiguredOrganization> {
  if ((await records.find(id)) !== undefined) return "exists";
  const made = await creations.create(id, { displayName: id, websiteUrl: "" });
  if (made === "under_way") return made;
  // Without a record, another replica was faster, or it was deleted.
  const isThere = made !== undefined || (await records.find(id)) !== undefined;
  return isThere ? "exists" : "deleted";
}
