import type { CheckRequest, RelationshipUpdate } from "svc-access/authz";
import type { Caller, CallerRights } from "./caller-rights.ts";
import type { EngineReads } from "./engine-reads.ts";
import { objectText } from "./relationships.ts";
import type { RightsModel } from "./rights-model.ts";

/**
 * Deletions by which a set gives up what it was granted. Whoever owns an object can grant its `owner` to a group, and
 * from then on only those add members who may write that owner. So the administrators of the group's permissions may
 * delete such a grant: nobody can keep members away from a group by it.
 */
export class Releases {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  readonly #rights: CallerRights;

  constructor(model: RightsModel, reads: EngineReads, rights: CallerRights) {
    this.#model = model;
    this.#reads = reads;
    this.#rights = rights;
  }

  /** The updates that are not such deletions by the caller, and need a right to their object. */
  async others(
    caller: Caller,
    updates: readonly RelationshipUpdate[],
  ): Promise<readonly RelationshipUpdate[]> {
    const checks = new Map<string, CheckRequest>();
    for (const update of updates) {
      const check = this.#checkOf(caller, update);
      if (check !== undefined) checks.set(objectText(check.resource), check);
    }
    const allowed = await this.#reads.checkAll([...checks.values()]);
    const held = [...checks].filter((_, index) => allowed[index] === true);
    for (const [, check] of held) this.#rights.rely(check);
    const administered = new Set(held.map(([set]) => set));
    return updates.filter((update) => {
      const check = this.#checkOf(caller, update);
      return check === undefined || !administered.has(objectText(check.resource));
    });
  }

  /** Whether the caller administers the set of a deletion; undefined for what is not such a deletion. */
  #checkOf(
    { subjectType, subjectId }: Caller,
    { operation, relationship: { resource, relation, subject } }: RelationshipUpdate,
  ): CheckRequest | undefined {
    if (operation !== "DELETE" || subject.relation === undefined) return undefined;
    if (!this.#model.isReleasable({ type: resource.type, relation })) return undefined;
    const permission = this.#model.managePermission(subject.type);
    if (permission === undefined) return undefined;
    return {
      resource: { type: subject.type, id: subject.id },
      permission,
      subject: { type: subjectType, id: subjectId },
    };
  }
}
