import {
  type AuthorizationEngine,
  AuthzError,
  type Precondition,
  type RelationshipUpdate,
  type Revision,
} from "svc-access/authz";
import { unique } from "./decided-path.ts";

/** How often a write is decided that others change the reasons of. */
const ATTEMPTS = 3;

/** A write that is decided. */
export interface DecidedWrite {
  readonly updates: readonly RelationshipUpdate[];
  /** Whether they may be written: it throws if not, and returns what must be a part of the write. */
  readonly decide: () => Promise<readonly Precondition[]>;
  /** What must be a part of it, too. */
  readonly others?: readonly Precondition[];
  /** Runs the write itself. */
  readonly effect?: <Result>(run: () => Promise<Result>) => Promise<Result>;
}

/**
 * Writes relationships as they were decided. If a precondition of the decision does not hold any more, it is decided
 * anew, since the caller may hold the right by another path: so one that was revoked meanwhile is refused as such. The
 * write does not end with the call.
 *
 * @throws AuthzError FAILED_PRECONDITION if anything else does not hold, or the reasons change too often; what
 * `decide` throws
 */
export async function writeDecided(
  engine: Pick<AuthorizationEngine, "writeRelationships">,
  { updates, decide, others = [], effect = (run) => run() }: DecidedWrite,
): Promise<{ readonly revision: Revision }> {
  let decided = await decide();
  for (let attempt = 1; ; attempt++) {
    const request = { updates, preconditions: unique([...decided, ...others]) };
    try {
      return await effect(() => engine.writeRelationships(request));
    } catch (error) {
      const isRefused = error instanceof AuthzError && error.code === "FAILED_PRECONDITION";
      if (!isRefused || attempt === ATTEMPTS) throw error;
      const next = await decide();
      if (JSON.stringify(next) === JSON.stringify(decided)) throw error;
      decided = next;
    }
  }
}
