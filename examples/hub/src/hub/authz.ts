import type { AuthorizationEngine, Precondition, Relationship } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { type Member, Role } from "../../gen/hub/authz/v1/authz_pb.ts";
import type { AuthzServiceHandlers } from "../../gen/hub/authz/v1/authz_server.ts";
import { pageSizeOf } from "../pages.ts";
import { callerOf } from "./relationships.ts";

/** The relation of each role, the mightiest first, with the permissions that it brings. */
const ROLES = [
  { role: Role.OWNER, relation: "owner", permissions: ["manage", "write", "operate", "read"] },
  { role: Role.ADMIN, relation: "admin", permissions: ["manage", "write", "operate", "read"] },
  { role: Role.DEVELOPER, relation: "developer", permissions: ["write", "read"] },
  { role: Role.OPERATOR, relation: "operator", permissions: ["operate", "read"] },
  { role: Role.VIEWER, relation: "viewer", permissions: ["read"] },
] as const;
const PERMISSIONS = ["manage", "write", "operate", "read"] as const;

/** The handlers of AuthzService: the roles on projects, as relationships. */
export function authzHandlers(engine: AuthorizationEngine): AuthzServiceHandlers {
  return {
    async listRoles() {
      return {
        roles: ROLES.map(({ role, relation, permissions }) => {
          const displayName = relation.charAt(0).toUpperCase() + relation.slice(1);
          return { role, displayName, permissions: [...permissions] };
        }),
      };
    },

    async listMyPermissions({ projectId }, context) {
      const subject = callerOf(context);
      const resource = { type: "project", id: String(projectId) };
      const { items } = await engine.checkBulk(
        PERMISSIONS.map((permission) => ({ resource, permission, subject })),
        { signal: context.signal },
      );
      const failed = items.find(({ error }) => error !== undefined)?.error;
      if (failed !== undefined) throw failed;
      return { permissions: PERMISSIONS.filter((_, index) => items[index]?.allowed === true) };
    },

    async listMembers(request, { signal }) {
      const { projectId, role, pageToken } = request;
      const relation = role === Role.UNSPECIFIED ? undefined : relationOf(role);
      const page = await engine.readRelationships(
        {
          resourceType: "project",
          resourceId: String(projectId),
          ...(relation === undefined ? {} : { relation }),
        },
        {
          pageSize: pageSizeOf(request, { otherwise: 50, most: 1000 }),
          ...(pageToken === "" ? {} : { cursor: pageToken }),
        },
        { signal },
      );
      return {
        members: page.items.map(memberOf).filter((member) => member !== undefined),
        nextPageToken: page.nextCursor ?? "",
      };
    },

    async grantRole({ projectId, member }, { signal }) {
      const relationship = relationshipOf(projectId, member);
      await engine.writeRelationships(
        { updates: [{ operation: "TOUCH", relationship }] },
        { signal },
      );
      return { member: member as Member };
    },

    async revokeRole({ projectId, member }, { signal }) {
      const relationship = relationshipOf(projectId, member);
      await engine.writeRelationships(
        {
          updates: [{ operation: "DELETE", relationship }],
          preconditions: await anotherOwner(engine, relationship, signal),
        },
        { signal },
      );
      return {};
    },

    async checkPush({ projectId, userId, branch }, { signal }) {
      if (!branch.startsWith("refs/heads/")) {
        return { allowed: false, message: "only branches are pushed to" };
      }
      const { allowed } = await engine.check(
        {
          resource: { type: "project", id: String(projectId) },
          permission: "write",
          subject: { type: "user", id: userId },
        },
        { signal },
      );
      return { allowed, message: allowed ? "" : `you may not write to project ${projectId}` };
    },
  };
}

/**
 * What must hold for a relationship to be deleted: of an owner, that another one stays. As a
 * condition of the write it also holds where two owners are revoked at the same time.
 */
async function anotherOwner(
  engine: AuthorizationEngine,
  { resource, relation, subject }: Relationship,
  signal: AbortSignal,
): Promise<Precondition[]> {
  if (relation !== "owner") return [];
  const filter = { resourceType: resource.type, resourceId: resource.id, relation };
  const { items } = await engine.readRelationships(filter, { pageSize: 2 }, { signal });
  const other = items.find(({ subject: { type, id } }) => {
    return type !== subject.type || id !== subject.id;
  });
  if (other === undefined) throw new ServiceError("FAILED_PRECONDITION", "the last owner stays");
  return [{ kind: "MUST_MATCH", filter: { ...filter, subject: other.subject } }];
}

function relationOf(role: Role): string {
  const relation = ROLES.find((known) => known.role === role)?.relation;
  if (relation !== undefined) return relation;
  const names = ROLES.map(({ relation }) => `ROLE_${relation.toUpperCase()}`).join(", ");
  throw new ServiceError("INVALID_ARGUMENT", `role is one of ${names}`);
}

function relationshipOf(projectId: bigint, member: Member | undefined): Relationship {
  const { subject } = member ?? {};
  if (member === undefined || subject?.case === undefined || subject.value === "") {
    throw new ServiceError("INVALID_ARGUMENT", "member.user_id or member.group_id is required");
  }
  return {
    resource: { type: "project", id: String(projectId) },
    relation: relationOf(member.role),
    subject:
      subject.case === "userId"
        ? { type: "user", id: subject.value }
        : { type: "group", id: subject.value, relation: "member" },
  };
}

/** A relationship as a member; undefined for a relation that is not a role, such as the parent. */
function memberOf({ relation, subject }: Relationship) {
  const role = ROLES.find((known) => known.relation === relation)?.role;
  if (role === undefined) return undefined;
  const holder =
    subject.type === "user"
      ? ({ case: "userId", value: subject.id } as const)
      : ({ case: "groupId", value: subject.id } as const);
  return { role, subject: holder };
}
