import type { AuthorizationEngine } from "svc-access/authz";

/** What a development environment begins with: alice owns an organization, its zone and a skill space. */
export async function seed(engine: AuthorizationEngine): Promise<void> {
  const alice = { type: "user", id: "alice" };
  const zone = { type: "zone", id: "acme" };
  const organization = { type: "organization", id: "acme" };
  const space = { type: "skill_space", id: "tools" };
  const relationships = [
    { resource: zone, relation: "owner", subject: alice },
    { resource: organization, relation: "zone", subject: zone },
    { resource: organization, relation: "owner", subject: alice },
    { resource: space, relation: "zone", subject: zone },
    { resource: space, relation: "owner", subject: alice },
    // The catalogs are skill spaces too, whose editors fill them.
    ...["CATALOG_RECOMMENDED", "CATALOG_COMMUNITY"].map((id) => {
      return { resource: { type: "skill_space", id }, relation: "owner", subject: alice };
    }),
  ];
  await engine.writeRelationships({
    updates: relationships.map((relationship) => ({ operation: "TOUCH", relationship })),
  });
}
