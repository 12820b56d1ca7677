import type { ObjectReference, SubjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { type CallerRights, GRANTED_BY } from "./caller-rights.ts";
import type { EngineReads } from "./engine-reads.ts";
import type { Places } from "./places.ts";
import { objectText } from "./relationships.ts";
import type { Rank, RightsModel } from "./rights-model.ts";

/** The most holders of `owner` or `admin` of one place that are compared. */
const MOST = 1000;
const RANKS: readonly Rank[] = ["owner", "admin"];

/**
 * A new place hands an object over: whoever holds `owner` above it may then grant the object's `owner`, and whoever
 * holds `admin` its `admin`. So the caller must be able to grant what others get by it.
 */
export class Handover {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  readonly #places: Places;
  readonly #rights: CallerRights;

  constructor(model: RightsModel, reads: EngineReads, places: Places, rights: CallerRights) {
    this.#model = model;
    this.#reads = reads;
    this.#places = places;
    this.#rights = rights;
  }

  /** @throws ServiceError FORBIDDEN if others get more than the caller may grant */
  async assertAllowed(object: ObjectReference, place: ObjectReference): Promise<void> {
    const before = await this.#places.upFrom(object);
    const known = new Set(before.map(objectText));
    const added = (await this.#places.upFrom(place)).filter((one) => !known.has(objectText(one)));
    for (const rank of RANKS) {
      if (await this.#rights.mayRank(object, rank)) continue;
      for (const one of added) {
        if (await this.#isNewTo(before, one, rank)) {
          throw new ServiceError(
            "FORBIDDEN",
            `the new place of ${objectText(object)} has an ${rank} whom the caller may not make ${rank} of it`,
          );
        }
      }
    }
  }

  /** Whether anybody who holds a rank on a place does not hold it where the object is. */
  async #isNewTo(
    before: readonly ObjectReference[],
    { type, id }: ObjectReference,
    rank: Rank,
  ): Promise<boolean> {
    if (!this.#model.hasRelation({ type, relation: rank })) return false;
    const filter = { resourceType: type, resourceId: id, relation: rank };
    const stored = await this.#reads.relationships(filter, MOST);
    for (const { subject } of stored) {
      if (!(await this.#holds(subject, before, rank))) return true;
    }
    return false;
  }

  async #holds(
    subject: SubjectReference,
    objects: readonly ObjectReference[],
    rank: Rank,
  ): Promise<boolean> {
    // Everybody of a type is nobody whose rights could be compared.
    if (subject.id === "*") return false;
    const checks = objects.flatMap((resource) =>
      GRANTED_BY[rank]
        .filter((relation) => this.#model.hasRelation({ type: resource.type, relation }))
        .map((permission) => ({ resource, permission, subject })),
    );
    return (await this.#reads.checkAll(checks)).includes(true);
  }
}
