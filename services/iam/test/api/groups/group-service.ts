import type { Relationship } from "svc-access/authz";
import { type Answer, asUser, type IamService } from "../../support/iam-service.ts";

/** Calls of IAMGroupService at a running service. */
export interface GroupCalls {
  /** `POST /v1/iam/organizations/acme/groups` and below it. */
  create(user: string, displayName: string, parentId?: string): Promise<Answer>;
  /** Creates a group that must be made, and returns its id. */
  make(user: string, displayName: string, parentId?: string): Promise<string>;
  get(user: string, id: string): Promise<Answer>;
  move(user: string, id: string, parentId: string): Promise<Answer>;
  remove(user: string, id: string): Promise<Answer>;
  add(user: string, id: string, member: object): Promise<Answer>;
  drop(user: string, id: string, member: object): Promise<Answer>;
  members(user: string, id: string, query?: string): Promise<Answer>;
  /** Writes `type:id#relation@type:id#relation` relationships, as a test. */
  relate(...texts: string[]): Promise<void>;
  /** Whether a relationship is stored. */
  isStored(text: string): Promise<boolean>;
}

/** The path of the groups of an organization. */
export const GROUPS = "/v1/iam/organizations/acme/groups";

export function groupCalls(iam: () => IamService): GroupCalls {
  const call = (user: string, method: string, path: string, body?: object) =>
    iam().call(method, `${GROUPS}${path}`, body, asUser(user));
  const create: GroupCalls["create"] = (user, displayName, parentId = "") =>
    call(user, "POST", "", { displayName, parentId });
  return {
    create,
    async make(user, displayName, parentId) {
      const { status, body } = await create(user, displayName, parentId);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.id;
    },
    get: (user, id) => call(user, "GET", `/${id}`),
    move: (user, id, parentId) => call(user, "POST", `/${id}:move`, { parentId }),
    remove: (user, id) => call(user, "DELETE", `/${id}`),
    add: (user, id, member) => call(user, "POST", `/${id}/members`, { member }),
    drop: (user, id, member) => call(user, "POST", `/${id}/members:remove`, { member }),
    members: (user, id, query = "") => call(user, "GET", `/${id}/members${query}`),
    async relate(...texts) {
      const updates = texts.map(
        (text) => ({ operation: "TOUCH", relationship: relationshipOf(text) }) as const,
      );
      await iam().options.engine?.writeRelationships({ updates });
    },
    async isStored(text) {
      const { resource, relation, subject } = relationshipOf(text);
      const filter = { resourceType: resource.type, resourceId: resource.id, relation, subject };
      const options = { newest: true };
      const page = { pageSize: 1 };
      const read = await iam().options.engine?.readRelationships(filter, page, options);
      return read?.items.length === 1;
    },
  };
}

function relationshipOf(text: string): Relationship {
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = "", of] =
    /^(\w+):(.+?)#(\w+)@(\w+):([^#]+)(?:#(\w+))?$/.exec(text) ?? [];
  if (type === "") throw new Error(`${text} is not a relationship`);
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, ...(of === undefined ? {} : { relation: of }) },
  };
}
