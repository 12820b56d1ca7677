import { Catalog } from "../../gen/hub/skills/v1/skill_pb.ts";
import {
  type AddSkillToCatalogRequest,
  AddSkillToCatalogRequestSchema,
} from "../../gen/hub/skills/v1/skill_service_pb.ts";
import type { Collection, Store } from "../store.ts";

/** Which skills are in which catalog. A label would not do: the editors of a skill write those. */
export class Catalogs {
  readonly #entries: Collection<AddSkillToCatalogRequest>;

  constructor(store: Store) {
    this.#entries = store.collection("catalog_entry", AddSkillToCatalogRequestSchema);
  }

  add(entry: AddSkillToCatalogRequest): void {
    this.#entries.put(keyOf(entry), entry, String(entry.catalog));
  }

  /** The ids of the skills of a catalog, in their order. */
  *skillIds(catalog: Catalog): Iterable<string> {
    for (const [, { skillId }] of this.#entries.all(String(catalog))) yield skillId;
  }

  deleteAll(skillId: string): void {
    for (const catalog of Object.values(Catalog)) this.#entries.delete(keyOf({ catalog, skillId }));
  }
}

function keyOf({
  catalog,
  skillId,
}: Pick<AddSkillToCatalogRequest, "catalog" | "skillId">): string {
  return `${catalog}/${skillId}`;
}
