import { randomUUID } from "node:crypto";
import { clone, create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import { SkillSchema, SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import type { SkillServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import { requireEtag } from "../etag.ts";
import { applyMask } from "../field-mask.ts";
import { page } from "../pages.ts";
import type { Store } from "../store.ts";
import { forgetObject, heldIds, placeObject } from "./relationships.ts";
import { type ReleaseParts, releaseHandlers } from "./releases.ts";
import type { Repositories } from "./repositories.ts";

const FIXED = [
  "skill_id",
  "space_id",
  "state",
  "latest_version",
  "create_time",
  "update_time",
  "etag",
];

/** What serves skills: their stores, who may what, and their repositories. */
export interface SkillParts extends ReleaseParts {
  readonly store: Store;
  readonly repositories: Repositories;
}

/** The handlers of SkillService. */
export function skillHandlers(parts: SkillParts): SkillServiceHandlers {
  const { store, skills, packages, catalogs, engine, repositories } = parts;
  return {
    ...releaseHandlers(parts),

    async listSkills(request, context) {
      const { spaceId, states } = request;
      const visible = { resourceType: "skill", permission: "view" };
      const ids = (await heldIds(engine, visible, context)).sort();
      const { items, nextPageToken } = page(
        request,
        { otherwise: 50, most: 1000 },
        function* (after, limit) {
          for (const id of ids) {
            const skill = id > after ? skills.find(id) : undefined;
            if (skill === undefined) continue;
            if (spaceId !== "" && skill.spaceId !== spaceId) continue;
            if (states.length > 0 && !states.includes(skill.state)) continue;
            yield [id, skill];
            if (--limit === 0) return;
          }
        },
      );
      return { skills: items, nextPageToken };
    },

    async getSkill({ skillId }) {
      return { skill: skills.get(skillId) };
    },

    async createSkill({ skill, validateOnly }, context) {
      if (skill === undefined) throw new ServiceError("INVALID_ARGUMENT", "skill is required");
      const made = create(SkillSchema, {
        ...skill,
        skillId: skill.skillId === "" ? randomUUID() : skill.skillId,
        state: SkillState.DRAFT,
        latestVersion: 0,
        createTime: timestampNow(),
      });
      const { skillId, spaceId } = made;
      requireName(made.displayName);
      if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(skillId)) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "skill.skill_id has 1 to 64 lower-case letters, digits and hyphens",
        );
      }
      if (skills.find(skillId) !== undefined) {
        throw new ServiceError("ALREADY_EXISTS", `the skill ${skillId} exists`);
      }
      if (validateOnly) return { skill: made };
      // First what may fail and can be repeated; it is found by others only when all is there.
      await repositories.create(skillId, context);
      const resource = { type: "skill", id: skillId };
      await placeObject(engine, resource, { type: "skill_space", id: spaceId }, context);
      return { skill: skills.save(made) };
    },

    async updateSkill({ skill, updateMask }) {
      if (skill === undefined) throw new ServiceError("INVALID_ARGUMENT", "skill is required");
      const current = skills.get(skill.skillId);
      requireEtag(skill.etag, current.etag, `the skill ${skill.skillId}`);
      const changed = clone(SkillSchema, current);
      applyMask(SkillSchema, changed, skill, updateMask, FIXED);
      requireName(changed.displayName);
      return { skill: skills.save(changed) };
    },

    async deleteSkill({ skillId, etag }, context) {
      // One that was deleted by half is not there, and is deleted to the end.
      const current = skills.find(skillId);
      if (current !== undefined) requireEtag(etag, current.etag, `the skill ${skillId}`);
      await repositories.delete(skillId, context);
      store.transaction(() => {
        packages.deleteAll(skillId);
        catalogs.deleteAll(skillId);
        skills.delete(skillId);
      });
      // Last, since they are what allows the caller to try again.
      await forgetObject(engine, { type: "skill", id: skillId }, context);
      return {};
    },
  };
}

function requireName(displayName: string): void {
  if (displayName === "") {
    throw new ServiceError("INVALID_ARGUMENT", "skill.display_name is required");
  }
}
