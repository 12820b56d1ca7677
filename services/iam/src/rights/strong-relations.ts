import type { ObjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { ObjectRelation } from "./caller-rights.ts";
import type { EngineReads } from "./engine-reads.ts";
import type { RightsModel } from "./rights-model.ts";

/** The most relations of the members of a set that are compared. */
const MOST = 1000;

/** A set of subjects: those who hold a relation or permission on an object, such as `group:eng#member`. */
export interface SubjectSet {
  readonly object: ObjectReference;
  readonly relation: string;
}

/** What the members of groups and other sets hold that only some may grant. */
export class StrongRelations {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;

  constructor(model: RightsModel, reads: EngineReads) {
    this.#model = model;
    this.#reads = reads;
  }

  /**
   * Each `owner` and `admin`, and each `permission_admin` and `user_manager` of a zone, that the members of a set
   * hold, directly or through the sets that it is a member of.
   *
   * @throws ServiceError FORBIDDEN if there are more than 1,000
   */
  async of({ object, relation }: SubjectSet): Promise<readonly ObjectRelation[]> {
    const subject = { ...object, relation };
    const held: ObjectRelation[] = [];
    for (const strong of this.#model.strong) {
      if (!this.#model.contributes({ type: object.type, relation }, strong)) continue;
      const left = MOST - held.length;
      const found = await this.#reads.objectsOf(strong.type, strong.relation, subject, left);
      held.push(...found.map((object) => ({ object, relation: strong.relation })));
      if (held.length > MOST) {
        throw new ServiceError(
          "FORBIDDEN",
          `the subjects of ${object.type}:${object.id}#${relation} hold more than ${MOST} relations that only some may grant`,
        );
      }
    }
    return held;
  }
}
