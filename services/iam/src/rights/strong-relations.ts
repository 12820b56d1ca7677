import type { ObjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { ObjectRelation } from "./caller-rights.ts";
import { type EngineReads, mapSome } from "./engine-reads.ts";
import { objectText } from "./relationships.ts";
import type { RightsModel, TypeRelation } from "./rights-model.ts";

/** The most relations that are compared for one request. */
const MOST = 1000;
/** The most that are found for one request: many sets may hold the same ones. */
const MOST_FOUND = 10_000;

/** A set of subjects: those who hold a relation or permission on an object, such as `group:eng#member`. */
export interface SubjectSet {
  readonly object: ObjectReference;
  readonly relation: string;
}

/** A relation that the members of a set hold. */
export interface HeldRelation extends ObjectRelation {
  /** One of the sets. */
  readonly by: SubjectSet;
}

/** What the members of groups and other sets hold that only some may grant or revoke; of one request. */
export class StrongRelations {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  #found = 0;

  constructor(model: RightsModel, reads: EngineReads) {
    this.#model = model;
    this.#reads = reads;
  }

  /**
   * Each of some relations that the members of the sets hold, directly or through the sets that these are members
   * of; each of them once.
   * @throws ServiceError FORBIDDEN if there are more than 1,000, or the sets hold too many in common
   */
  async of(
    sets: readonly SubjectSet[],
    relations: readonly TypeRelation[],
  ): Promise<readonly HeldRelation[]> {
    const held = new Map<string, HeldRelation>();
    await mapSome(sets, async (by) => {
      for await (const { object, relation } of this.#heldBy(by, relations)) {
        const key = `${objectText(object)}#${relation}`;
        if (!held.has(key)) held.set(key, { object, relation, by });
        if (held.size > MOST) throw tooMany(sets, by);
      }
      if (this.#found > MOST_FOUND) throw tooMany(sets, by);
    });
    return [...held.values()];
  }

  async *#heldBy(
    { object, relation }: SubjectSet,
    relations: readonly TypeRelation[],
  ): AsyncGenerator<ObjectRelation> {
    const subject = { ...object, relation };
    for (const held of relations) {
      if (!this.#model.contributes({ type: object.type, relation }, held)) continue;
      const found = await this.#reads.objectsOf(held.type, held.relation, subject, MOST);
      this.#found += found.length;
      for (const one of found) yield { object: one, relation: held.relation };
    }
  }
}

function tooMany(sets: readonly SubjectSet[], { object, relation }: SubjectSet): ServiceError {
  const set = `${objectText(object)}#${relation}`;
  const message =
    sets.length === 1
      ? `the subjects of ${set} hold more than ${MOST} relations that only some may grant`
      : `the subjects of ${set} and of other sets of this request hold too many relations that only some may grant: write fewer at once`;
  return new ServiceError("FORBIDDEN", message);
}
