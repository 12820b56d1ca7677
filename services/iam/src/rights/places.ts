import type { ObjectReference } from "svc-access/authz";
import { type EngineReads, tooMany } from "./engine-reads.ts";
import { objectText } from "./relationships.ts";
import type { RightsModel } from "./rights-model.ts";

/** The most objects above one that are visited. */
const MOST = 1000;

/** Where objects are: their zones, their parents and what is above these. */
export class Places {
  readonly #model: RightsModel;
  readonly #reads: EngineReads;
  readonly #above = new Map<string, Promise<readonly ObjectReference[]>>();

  constructor(model: RightsModel, reads: EngineReads) {
    this.#model = model;
    this.#reads = reads;
  }

  /** The objects that a relation of an object names as its places. */
  async named(object: ObjectReference, relation: string): Promise<readonly ObjectReference[]> {
    const { type, id } = object;
    const filter = { resourceType: type, resourceId: id, relation };
    const found = await this.#reads.relationships(filter, MOST);
    return found.map(({ subject }) => ({ type: subject.type, id: subject.id }));
  }

  /**
   * An object and all above it.
   *
   * @throws ServiceError FORBIDDEN if there are too many
   */
  upFrom(object: ObjectReference): Promise<readonly ObjectReference[]> {
    const key = objectText(object);
    const known = this.#above.get(key) ?? this.#walk(object);
    this.#above.set(key, known);
    return known;
  }

  async #walk(object: ObjectReference): Promise<readonly ObjectReference[]> {
    const found = new Map([[objectText(object), object]]);
    // A map is walked in the order of its entries, also of those that are added meanwhile.
    for (const from of found.values()) {
      for (const relation of this.#model.places(from.type)) {
        for (const place of await this.named(from, relation)) found.set(objectText(place), place);
      }
      if (found.size > MOST) throw tooMany();
    }
    return [...found.values()];
  }
}
