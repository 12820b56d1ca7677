import { clone } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { type Skill, SkillSchema } from "../../gen/hub/skills/v1/skill_pb.ts";
import { etagOf } from "../etag.ts";
import { type Collection, found, type Store } from "../store.ts";

/** The skills that the hub keeps. */
export class Skills {
  readonly #skills: Collection<Skill>;

  constructor(store: Store) {
    this.#skills = store.collection("skill", SkillSchema);
  }

  find(id: string): Skill | undefined {
    return this.#skills.get(id);
  }

  get(id: string): Skill {
    return found(this.#skills.get(id), `the skill ${id}`);
  }

  /** Keeps a skill as it is now, and returns it with its new time and etag. */
  save(skill: Skill): Skill {
    const saved = clone(SkillSchema, skill);
    saved.updateTime = timestampNow();
    saved.etag = "";
    saved.etag = etagOf(SkillSchema, saved);
    this.#skills.put(saved.skillId, saved);
    return saved;
  }

  delete(id: string): void {
    this.#skills.delete(id);
  }
}
