import { clone, create, type JsonObject } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import {
  type Project,
  ProjectSchema,
  SetProjectSettingsResponseSchema,
} from "../../gen/hub/projects/v1/project_service_pb.ts";
import type { ProjectServiceHandlers } from "../../gen/hub/projects/v1/project_service_server.ts";
import { etagOf, requireEtag } from "../etag.ts";
import { applyMask } from "../field-mask.ts";
import { page } from "../pages.ts";
import { found, type Store } from "../store.ts";
import { forgetObject, heldIds, placeObject } from "./relationships.ts";
import type { Runs } from "./runs.ts";
import { usageOf } from "./usage.ts";

const FIXED = ["project_id", "organization_id", "create_time", "update_time", "etag"];

/** What serves projects. */
export interface ProjectParts {
  readonly store: Store;
  readonly engine: AuthorizationEngine;
  readonly runs: Runs;
}

/** The handlers of ProjectService. */
export function projectHandlers({ store, engine, runs }: ProjectParts): ProjectServiceHandlers {
  const projects = store.collection("project", ProjectSchema);
  const settings = store.collection("project_settings", SetProjectSettingsResponseSchema);
  const get = (id: bigint) => found(projects.get(keyOf(id)), `the project ${id}`);
  const save = (project: Project): Project => {
    const saved = { ...project, updateTime: timestampNow(), etag: "" };
    saved.etag = etagOf(ProjectSchema, saved);
    projects.put(keyOf(saved.projectId), saved, saved.organizationId);
    return saved;
  };
  return {
    ...runs.projectHandlers(get),

    async listProjects(request, context) {
      const { organizationId } = request;
      const readable = { resourceType: "project", permission: "read" };
      const ids = await heldIds(engine, readable, context);
      const keys = ids.map((id) => keyOf(BigInt(id))).sort();
      const { items, nextPageToken } = page(
        request,
        { otherwise: 50, most: 1000 },
        function* (after, limit) {
          for (const key of keys) {
            const project = key > after ? projects.get(key) : undefined;
            if (project === undefined) continue;
            if (organizationId !== "" && project.organizationId !== organizationId) continue;
            yield [key, project];
            if (--limit === 0) return;
          }
        },
      );
      return { projects: items, nextPageToken };
    },

    async getProject({ projectId }) {
      return { project: get(projectId) };
    },

    async createProject({ project }, context) {
      if (project === undefined) throw new ServiceError("INVALID_ARGUMENT", "project is required");
      requireName(project.displayName);
      const projectId = store.nextNumber("project");
      const resource = { type: "project", id: String(projectId) };
      const organization = { type: "organization", id: project.organizationId };
      await placeObject(engine, resource, organization, context);
      const made = create(ProjectSchema, { ...project, projectId, createTime: timestampNow() });
      return { project: save(made) };
    },

    async updateProject({ project, updateMask }) {
      if (project === undefined) throw new ServiceError("INVALID_ARGUMENT", "project is required");
      const current = get(project.projectId);
      requireEtag(project.etag, current.etag, `the project ${project.projectId}`);
      const changed = clone(ProjectSchema, current);
      applyMask(ProjectSchema, changed, project, updateMask, FIXED);
      requireName(changed.displayName);
      return { project: save(changed) };
    },

    async setProjectSettings({ projectId, settings: sent = {} }) {
      get(projectId);
      settings.put(keyOf(projectId), settingsOf(sent));
      return { settings: sent };
    },

    async deleteProject({ projectId, etag }, context) {
      // One that was deleted by half is not there, and is deleted to the end.
      const current = projects.get(keyOf(projectId));
      if (current !== undefined) requireEtag(etag, current.etag, `the project ${projectId}`);
      store.transaction(() => {
        runs.deleteAll(projectId);
        settings.delete(keyOf(projectId));
        projects.delete(keyOf(projectId));
      });
      // Last, since they are what allows the caller to try again.
      await forgetObject(engine, { type: "project", id: String(projectId) }, context);
      return {};
    },

    async getUsage({ since }, context) {
      const { organizationId } = requirePrincipal(context);
      const own = projects.all(organizationId);
      return usageOf(own, (projectId) => runs.all(projectId), since);
    },
  };
}

/** Keys sort as the numbers do. */
function keyOf(projectId: bigint): string {
  return String(projectId).padStart(19, "0");
}

function settingsOf(settings: JsonObject) {
  return create(SetProjectSettingsResponseSchema, { settings });
}

function requireName(displayName: string): void {
  if (displayName === "") {
    throw new ServiceError("INVALID_ARGUMENT", "project.display_name is required");
  }
}
