import { clone, create, fromJson } from "@bufbuild/protobuf";
import { durationFromMs, StructSchema, timestampDate, timestampNow } from "@bufbuild/protobuf/wkt";
import type { AuthorizationEngine } from "svc-access/authz";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import {
  type Project,
  ProjectSchema,
  type Run,
  RunState,
} from "../../gen/hub/projects/v1/project_service_pb.ts";
import type { ProjectServiceHandlers } from "../../gen/hub/projects/v1/project_service_server.ts";
import { etagOf, requireEtag } from "../etag.ts";
import { applyMask } from "../field-mask.ts";
import { page } from "../pages.ts";
import { type Collection, found, type Store } from "../store.ts";
import { heldIds, writeParent } from "./relationships.ts";
import type { Runs } from "./runs.ts";

const FIXED = ["project_id", "organization_id", "create_time", "update_time", "etag"];

/** What serves projects. */
export interface ProjectParts {
  readonly store: Store;
  readonly engine: AuthorizationEngine;
  readonly runs: Runs;
}

/** The handlers of ProjectService. */
export function projectHandlers({ store, engine, runs }: ProjectParts): ProjectServiceHandlers {
  const projects: Collection<Project> = store.collection("project", ProjectSchema);
  const settings = store.collection("project_settings", StructSchema);
  const get = (id: bigint) => found(projects.get(keyOf(id)), `the project ${id}`);
  const save = (project: Project): Project => {
    project.updateTime = timestampNow();
    project.etag = "";
    project.etag = etagOf(ProjectSchema, project);
    projects.put(keyOf(project.projectId), project, project.organizationId);
    return project;
  };
  return {
    ...runs.projectHandlers(get),

    async listProjects(request, context) {
      const keys = (await heldIds(engine, "project", "read", context)).map((id) =>
        keyOf(BigInt(id)),
      );
      keys.sort();
      const { items, nextPageToken } = page(
        request,
        { otherwise: 50, most: 1000 },
        (after, limit) =>
          keys
            .filter((key) => key > after)
            .map((key) => projects.get(key))
            .filter((project) => project !== undefined)
            .filter(({ organizationId: of }) => {
              return request.organizationId === "" || of === request.organizationId;
            })
            .slice(0, limit),
        ({ projectId }) => keyOf(projectId),
      );
      return { projects: [...items], nextPageToken };
    },

    async getProject({ projectId }) {
      return { project: get(projectId) };
    },

    async createProject({ project }, context) {
      if (project === undefined || project.displayName === "") {
        throw new ServiceError("INVALID_ARGUMENT", "project.display_name is required");
      }
      const last = projects.list({ limit: 1_000_000 }).at(-1)?.projectId ?? 0n;
      const made = create(ProjectSchema, {
        ...project,
        projectId: last + 1n,
        createTime: timestampNow(),
      });
      // The number is taken before anything is waited for.
      save(made);
      await writeParent(engine, {
        resource: { type: "project", id: String(made.projectId) },
        parent: { type: "organization", id: made.organizationId },
        owner: requirePrincipal(context).subjectId,
        context,
      }).catch((error: unknown) => {
        projects.delete(keyOf(made.projectId));
        throw error;
      });
      return { project: made };
    },

    async updateProject({ project, updateMask }) {
      if (project === undefined) throw new ServiceError("INVALID_ARGUMENT", "project is required");
      const current = get(project.projectId);
      requireEtag(project.etag, current.etag, `the project ${project.projectId}`);
      const changed = clone(ProjectSchema, current);
      applyMask(ProjectSchema, changed, project, updateMask, FIXED);
      return { project: save(changed) };
    },

    async setProjectSettings({ projectId, settings: sent = {} }) {
      get(projectId);
      settings.put(keyOf(projectId), fromJson(StructSchema, sent));
      return { settings: sent };
    },

    async deleteProject({ projectId, etag }) {
      const current = get(projectId);
      requireEtag(etag, current.etag, `the project ${projectId}`);
      runs.deleteAll(projectId);
      settings.delete(keyOf(projectId));
      projects.delete(keyOf(projectId));
      return {};
    },

    async getUsage({ since }, context) {
      const { organizationId } = requirePrincipal(context);
      const from = since === undefined ? startOfMonth() : timestampDate(since);
      const own = projects.list({ parent: organizationId, limit: 1_000_000 });
      const started = own
        .flatMap(({ projectId }) => runs.all(projectId))
        .filter(({ startTime }) => startTime !== undefined && timestampDate(startTime) >= from);
      const milliseconds = started.reduce((sum, run) => sum + durationOf(run), 0);
      return {
        projectCount: own.length,
        runCount: BigInt(started.length),
        runTime: durationFromMs(milliseconds),
      };
    },
  };
}

/** Keys sort as the numbers do. */
export function keyOf(projectId: bigint): string {
  return String(projectId).padStart(19, "0");
}

function startOfMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}

function durationOf({ startTime, endTime, state }: Run): number {
  if (startTime === undefined) return 0;
  const end =
    endTime !== undefined
      ? timestampDate(endTime)
      : state === RunState.RUNNING
        ? new Date()
        : timestampDate(startTime);
  return end.getTime() - timestampDate(startTime).getTime();
}
