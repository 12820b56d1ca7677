import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationEngine } from "svc-access/authz";

/**
 * What a development environment begins with: alice, or the user whose id is in `SEED_OWNER`, owns an
 * organization and a skill space. With an engine of its own she also owns the zone; the zones of IAM
 * are made there.
 */
export async function seed(engine: AuthorizationEngine): Promise<void> {
  const alice = { type: "user", id: process.env["SEED_OWNER"] || "alice" };
  const zone = { type: "zone", id: "acme" };
  const organization = { type: "organization", id: "acme" };
  const space = { type: "skill_space", id: "tools" };
  const ofZone = { resource: zone, relation: "owner", subject: alice };
  const relationships = [
    ...(engine.kind === "iam" ? [] : [ofZone]),
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

const PAUSE_MS = 500;

/** Seeds as soon as the engine answers: IAM may start after the hub. The first failure is reported. */
export async function seedWhenReady(
  engine: AuthorizationEngine,
  signal: AbortSignal,
): Promise<void> {
  let isReported = false;
  while (!signal.aborted) {
    try {
      return await seed(engine);
    } catch (error) {
      if (!isReported) process.stderr.write(`not seeded yet: ${(error as Error).message}\n`);
      isReported = true;
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
