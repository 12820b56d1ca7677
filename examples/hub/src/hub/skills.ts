import { randomUUID } from "node:crypto";
import { clone, create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { AuthorizationEngine } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { Catalog, SkillSchema, SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import type { SkillServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import { requireEtag } from "../etag.ts";
import { applyMask } from "../field-mask.ts";
import { page } from "../pages.ts";
import type { Store } from "../store.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Packages } from "./packages.ts";
import { callerOf, forgetObject, heldIds, placeObject } from "./relationships.ts";
import type { Repositories } from "./repositories.ts";
import type { Skills } from "./skill-store.ts";

const FIXED = [
  "skill_id",
  "space_id",
  "state",
  "latest_version",
  "create_time",
  "update_time",
  "etag",
];
const MAX_FEATURED = 20;

/** What serves skills: their stores, who may what, and their repositories. */
export interface SkillParts {
  readonly store: Store;
  readonly skills: Skills;
  readonly packages: Packages;
  readonly catalogs: Catalogs;
  readonly engine: AuthorizationEngine;
  readonly repositories: Repositories;
}

/** The handlers of SkillService. */
export function skillHandlers(parts: SkillParts): SkillServiceHandlers {
  const { store, skills, packages, catalogs, engine, repositories } = parts;
  return {
    async listFeaturedSkills() {
      const featured = [];
      for (const id of catalogs.skillIds(Catalog.RECOMMENDED)) {
        const skill = skills.find(id);
        if (skill?.state !== SkillState.PUBLISHED) continue;
        const { skillId, displayName, description } = skill;
        featured.push({ skillId, displayName, summary: description.split("\n", 1)[0] ?? "" });
        if (featured.length === MAX_FEATURED) break;
      }
      return { skills: featured };
    },

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

    async reviewSkill({ skillId, approved }) {
      const skill = skills.get(skillId);
      if (skill.state !== (approved ? SkillState.DRAFT : SkillState.REVIEWED)) {
        const message = approved ? "the skill is no draft" : "the skill is not under review";
        throw new ServiceError("FAILED_PRECONDITION", message);
      }
      const state = approved ? SkillState.REVIEWED : SkillState.DRAFT;
      return { skill: skills.save({ ...skill, state }) };
    },

    async publishSkill({ skillId, version }) {
      const skill = skills.get(skillId);
      if (skill.state === SkillState.DRAFT) {
        throw new ServiceError("FAILED_PRECONDITION", "the skill has not been reviewed");
      }
      packages.version(skill, version);
      return { skill: skills.save({ ...skill, state: SkillState.PUBLISHED }) };
    },

    async addSkillToCatalog(entry, context) {
      const { allowed } = await engine.check(
        {
          resource: { type: "skill", id: entry.skillId },
          permission: "view",
          subject: callerOf(context),
        },
        { signal: context.signal },
      );
      if (!allowed) throw new ServiceError("FORBIDDEN");
      if (skills.get(entry.skillId).state !== SkillState.PUBLISHED) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          `the skill ${entry.skillId} is not published`,
        );
      }
      catalogs.add(entry);
      return {};
    },

    async getSkillVersion({ skillId, version }) {
      return { version: packages.version(skills.get(skillId), version) };
    },

    async getSkillFile({ skillId, path }) {
      return packages.file(skills.get(skillId), path);
    },
  };
}

function requireName(displayName: string): void {
  if (displayName === "") {
    throw new ServiceError("INVALID_ARGUMENT", "skill.display_name is required");
  }
}
