import { randomUUID } from "node:crypto";
import { clone, create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import { Catalog, type Skill, SkillSchema, SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import type { SkillServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import { etagOf, requireEtag } from "../etag.ts";
import { applyMask } from "../field-mask.ts";
import { page } from "../pages.ts";
import { type Collection, found } from "../store.ts";
import type { Packages } from "./packages.ts";
import { heldIds, writeParent } from "./relationships.ts";
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

/** What serves skills: their store, who may what, their packages and their repositories. */
export interface SkillParts {
  readonly skills: Collection<Skill>;
  readonly packages: Packages;
  readonly engine: AuthorizationEngine;
  readonly repositories: Repositories;
}

/** The handlers of SkillService. */
export function skillHandlers({
  skills,
  packages,
  engine,
  repositories,
}: SkillParts): SkillServiceHandlers {
  const get = (id: string) => found(skills.get(id), `the skill ${id}`);
  const save = (skill: Skill): Skill => {
    skill.updateTime = timestampNow();
    skill.etag = "";
    skill.etag = etagOf(SkillSchema, skill);
    skills.put(skill.skillId, skill, skill.spaceId);
    return skill;
  };
  return {
    async listFeaturedSkills() {
      const featured = skills
        .list({ limit: 1000 })
        .filter(({ state, labels }) => {
          return state === SkillState.PUBLISHED && labels["catalog"] === "recommended";
        })
        .slice(0, 20);
      return {
        skills: featured.map(({ skillId, displayName, description }) => {
          return { skillId, displayName, summary: description.split("\n", 1)[0] ?? "" };
        }),
      };
    },

    async listSkills(request, context) {
      const visible = await heldIds(engine, "skill", "view", context);
      const { items, nextPageToken } = page(
        request,
        { otherwise: 50, most: 1000 },
        (after, limit) =>
          visible
            .filter((id) => id > after)
            .map((id) => skills.get(id))
            .filter((skill) => skill !== undefined)
            .filter(({ spaceId }) => request.spaceId === "" || spaceId === request.spaceId)
            .filter(({ state }) => request.states.length === 0 || request.states.includes(state))
            .slice(0, limit),
        ({ skillId }) => skillId,
      );
      return { skills: [...items], nextPageToken };
    },

    async getSkill({ skillId }) {
      return { skill: get(skillId) };
    },

    async createSkill({ skill, validateOnly }, context) {
      if (skill === undefined || skill.displayName === "") {
        throw new ServiceError("INVALID_ARGUMENT", "skill.display_name is required");
      }
      const made = create(SkillSchema, {
        ...skill,
        skillId: skill.skillId === "" ? randomUUID() : skill.skillId,
        state: SkillState.DRAFT,
        latestVersion: 0,
        createTime: timestampNow(),
      });
      if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(made.skillId)) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "skill.skill_id has 1 to 64 lower-case letters, digits and hyphens",
        );
      }
      if (skills.get(made.skillId) !== undefined) {
        throw new ServiceError("ALREADY_EXISTS", `the skill ${made.skillId} exists`);
      }
      if (validateOnly) return { skill: made };
      // Who owns it before it can be found, and its repository before it can be used.
      await writeParent(engine, {
        resource: { type: "skill", id: made.skillId },
        parent: { type: "skill_space", id: made.spaceId },
        owner: requirePrincipal(context).subjectId,
        context,
      });
      await repositories.create(made.skillId, context);
      return { skill: save(made) };
    },

    async updateSkill({ skill, updateMask }) {
      if (skill === undefined) throw new ServiceError("INVALID_ARGUMENT", "skill is required");
      const current = get(skill.skillId);
      requireEtag(skill.etag, current.etag, `the skill ${skill.skillId}`);
      const changed = clone(SkillSchema, current);
      applyMask(SkillSchema, changed, skill, updateMask, FIXED);
      return { skill: save(changed) };
    },

    async deleteSkill({ skillId, etag }, context) {
      const current = get(skillId);
      requireEtag(etag, current.etag, `the skill ${skillId}`);
      await repositories.delete(skillId, context);
      packages.deleteAll(skillId);
      skills.delete(skillId);
      return {};
    },

    async reviewSkill({ skillId, approved }) {
      const skill = clone(SkillSchema, get(skillId));
      const from = approved ? SkillState.DRAFT : SkillState.REVIEWED;
      if (skill.state !== from) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          approved ? "the skill is no draft" : "the skill is not under review",
        );
      }
      skill.state = approved ? SkillState.REVIEWED : SkillState.DRAFT;
      return { skill: save(skill) };
    },

    async publishSkill({ skillId, version }) {
      const skill = clone(SkillSchema, get(skillId));
      if (skill.state === SkillState.DRAFT) {
        throw new ServiceError("FAILED_PRECONDITION", "the skill has not been reviewed");
      }
      packages.version(skillId, version);
      skill.state = SkillState.PUBLISHED;
      return { skill: save(skill) };
    },

    async addSkillToCatalog({ catalog, skillId }, context) {
      const { allowed } = await engine.check(
        {
          resource: { type: "skill", id: skillId },
          permission: "view",
          subject: { type: "user", id: requirePrincipal(context).subjectId },
        },
        { signal: context.signal },
      );
      if (!allowed) throw new ServiceError("FORBIDDEN");
      const skill = clone(SkillSchema, get(skillId));
      skill.labels["catalog"] = catalog === Catalog.RECOMMENDED ? "recommended" : "community";
      save(skill);
      return {};
    },

    async getSkillVersion({ skillId, version }) {
      get(skillId);
      return { version: packages.version(skillId, version) };
    },

    async getSkillFile({ skillId, path }) {
      get(skillId);
      return packages.file(skillId, path);
    },
  };
}
