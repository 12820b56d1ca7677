import {
  type AuthorizationEngine,
  AuthzError,
  type Precondition,
  type RelationshipUpdate,
  type Revision,
} from "svc-access/authz";

/** How often a write is decided that others change the reasons of. */
const ATTEMPTS = 3;

/**
 * Writes relationships as they were decided. If a precondition of the decision does not hold any more, it is decided
 * anew, since the caller may hold the right by another path: so one that was revoked meanwhile is refused as such.
 *
 * @param decide whether they may be written: it throws if not, and returns what must be a part of the write
 * @param others what must be a part of it, too
 * @throws AuthzError FAILED_PRECONDITION if anything else does not hold, or the reasons change too often; what
 * `decide` throws
 */
export async function writeDecided(
  engine: Pick<AuthorizationEngine, "writeRelationships">,
  updates: readonly RelationshipUpdate[],
  decide: () => Promise<readonly Precondition[]>,
  signal: AbortSignal,
  others: readonly Precondition[] = [],
): Promise<{ readonly revision: Revision }> {
  let decided = await decide();
  for (let attempt = 1; ; attempt++) {
    try {
      const preconditions = [...decided, ...others];
      return await engine.writeRelationships({ updates, preconditions }, { signal });
    } catch (error) {
      const isRefused = error instanceof AuthzError && error.code === "FAILED_PRECONDITION";
      if (!isRefused || attempt === ATTEMPTS) throw error;
      const next = await decide();
      if (JSON.stringify(next) === JSON.stringify(decided)) throw error;
      decided = next;
    }
  }
}
