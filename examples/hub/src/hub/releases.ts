import type { AuthorizationEngine } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { Catalog, SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import type { SkillServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Packages } from "./packages.ts";
import { callerOf } from "./relationships.ts";
import type { Skills } from "./skill-store.ts";

const MAX_FEATURED = 20;

/** What releases skills. */
export interface ReleaseParts {
  readonly skills: Skills;
  readonly packages: Packages;
  readonly catalogs: Catalogs;
  readonly engine: AuthorizationEngine;
}

type ReleaseHandlers = Pick<
  SkillServiceHandlers,
  | "reviewSkill"
  | "publishSkill"
  | "addSkillToCatalog"
  | "listFeaturedSkills"
  | "getSkillVersion"
  | "getSkillFile"
>;

/** The part of SkillService from the review of a skill to what others see of it. */
export function releaseHandlers({
  skills,
  packages,
  catalogs,
  engine,
}: ReleaseParts): ReleaseHandlers {
  return {
    async reviewSkill({ skillId, approved }) {
      const skill = skills.get(skillId);
      if (skill.state !== (approved ? SkillState.DRAFT : SkillState.REVIEWED)) {
        const message = approved ? "the skill is not a draft" : "the skill is not under review";
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

    async getSkillVersion({ skillId, version }) {
      return { version: packages.version(skills.get(skillId), version) };
    },

    async getSkillFile({ skillId, path }) {
      return packages.file(skills.get(skillId), path);
    },
  };
}
