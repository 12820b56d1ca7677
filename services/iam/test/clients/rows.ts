import { randomUUID } from "node:crypto";
import { AS_HUB, REDIRECT_URI } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { NEW } from "../support/passwords.ts";
import type { Json } from "./rpc-client.ts";
import { AS_SYSTEM, type Scene, type Who } from "./scene.ts";

/** A right request of an RPC, and who may make it. */
export interface Row {
  readonly as: Who;
  readonly request: (scene: Scene) => Json;
  /** Whether it lists what other calls have made, too: then it does not matter which one is listed. */
  readonly isShared?: true;
  /** Of a stream without end: the message that is waited for. */
  readonly isLast?: (message: Json) => boolean;
  /** Makes something that such a stream sends. It is called until the message comes. */
  readonly stir?: (scene: Scene) => Promise<unknown>;
}

const ACME = { organizationId: "acme" };
const ZONE = { type: "zone", id: "acme" };
const user = (id: string) => ({ type: "user", id });
const project = (id: string) => ({ type: "project", id });
const someone = user("someone");

const ofGroup = async (scene: Scene) => ({ ...ACME, groupId: await scene.group() });
const ofUser = async (scene: Scene) => ({ userId: await scene.user() });
const ofAccount = async (scene: Scene) => ({ serviceAccountId: await scene.account() });

/** The filter of events that were made for this call. */
async function audited(scene: Scene) {
  await scene.audited();
  return { filter: { principalId: await scene.owner() } };
}

const viewer = (scene: Scene) => ({
  resource: project(scene.unique("project")),
  relation: "viewer",
  subject: someone,
});

/** A relationship that there is. */
async function written(scene: Scene) {
  const relationship = viewer(scene);
  await scene.must("POST", "/v1/iam/relationships:write", { relationship }, AS_HUB);
  return relationship;
}

const newClient = (scene: Scene) => {
  const id = randomUUID();
  return {
    clients: [{ id, name: scene.unique(), flows: ["CLIENT_FLOW_DEVICE"] }],
  };
};

const question = { subject: someone, resource: project("etl"), permission: "read" };

const BY_SERVICE: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  IAMAuditService: {
    ListAuditEvents: { as: "owner", request: audited },
    ExportAuditEvents: { as: "owner", request: audited },
    FollowAuditEvents: {
      as: "owner",
      request: async (scene) => ({
        filter: { principalId: await scene.owner(), state: "completed", code: "OK" },
      }),
      stir: (scene) => scene.audited(),
      isLast: () => true,
    },
  },
  IAMAuthService: {
    BuildLoginURL: {
      as: "nobody",
      request: () => ({
        redirectUri: REDIRECT_URI,
        state: "a state",
        codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      }),
    },
    ExchangeCode: { as: "hub", request: (scene) => scene.code() },
    RefreshToken: {
      as: "hub",
      request: async (scene) => ({ refreshToken: (await scene.login()).refreshToken }),
    },
    VerifyToken: {
      as: "hub",
      request: async (scene) => ({ token: (await scene.login()).accessToken }),
    },
    RevokeToken: {
      as: "hub",
      request: async (scene) => ({
        token: (await scene.login()).refreshToken,
        kind: "TOKEN_KIND_REFRESH",
      }),
    },
    GetMe: { as: "login", request: () => ({}) },
    UpdateMe: {
      as: "login",
      request: () => ({ user: { name: "Another" }, updateMask: "name" }),
    },
    GetUserPreferences: { as: "login", request: () => ({}) },
    UpdateUserPreferences: {
      as: "login",
      request: () => ({ preferences: { language: "de" }, updateMask: "language" }),
    },
  },
  IAMAuthorizationService: {
    WriteRelationships: {
      as: "owner",
      request: (scene) => ({
        relationships: [{ resource: ZONE, relation: "user_viewer", subject: user(scene.unique()) }],
      }),
    },
    CheckPermission: {
      as: "owner",
      request: () => ({ resource: ZONE, permission: "view_zone", subject: someone }),
    },
    ExplainPermission: {
      as: "owner",
      request: () => ({ resource: ZONE, permission: "view_zone", subject: someone }),
    },
    ListAccess: {
      isShared: true,
      as: "owner",
      request: async (scene) => ({
        resource: { type: "group", id: await scene.group() },
        permission: "view",
        subjectType: "user",
        // All of them: who comes first depends on random ids.
        pageSize: 100,
      }),
    },
    ListRelationships: {
      as: "owner",
      request: async (scene) => ({ resourceType: "group", resourceId: await scene.group() }),
    },
  },
  IAMDirectoryService: {
    GetUser: {
      as: "owner",
      request: async (scene) => ({ ...ACME, userId: await scene.user() }),
    },
    ListUsers: {
      as: "owner",
      request: async (scene) => ({ ...ACME, query: (await scene.login()).username }),
    },
    GetOrganization: { as: "owner", request: () => ACME },
    ListGroups: {
      as: "owner",
      request: async (scene) => ({ ...ACME, parentId: await scene.group() }),
    },
  },
  IAMGroupService: {
    ListVisibleGroups: {
      isShared: true,
      as: "owner",
      request: async (scene) => {
        await scene.group();
        await scene.group("second-group");
        return { ...ACME, pageSize: 1 };
      },
    },
    CreateGroup: { as: "owner", request: () => ({ ...ACME, displayName: "New" }) },
    GetGroup: { as: "owner", request: ofGroup },
    UpdateGroup: {
      as: "owner",
      request: async (scene) => ({
        ...(await ofGroup(scene)),
        group: { displayName: "Another" },
        updateMask: "displayName",
      }),
    },
    MoveGroup: {
      as: "owner",
      request: async (scene) => ({
        ...(await ofGroup(scene)),
        parentId: await scene.group("parent"),
      }),
    },
    DeleteGroup: { as: "owner", request: ofGroup },
    AddMember: {
      as: "owner",
      request: async (scene) => ({
        ...(await ofGroup(scene)),
        member: user(await scene.user()),
      }),
    },
    RemoveMember: {
      as: "owner",
      request: async (scene) => {
        const [group, member] = [await ofGroup(scene), await scene.user()];
        await scene.relate({ type: "group", id: group.groupId }, "member", member);
        return { ...group, member: user(member) };
      },
    },
    ListMembers: {
      as: "owner",
      request: async (scene) => {
        const group = await ofGroup(scene);
        await scene.relate({ type: "group", id: group.groupId }, "member", await scene.user());
        return group;
      },
    },
  },
  IAMLocalUserService: {
    ListUsers: { isShared: true, as: "owner", request: () => ({ pageSize: 1 }) },
    CreateUser: {
      as: "owner",
      request: (scene) => ({
        username: scene.unique(),
        displayName: "Somebody",
        email: "somebody@example.com",
        password: PASSWORD,
      }),
    },
    GetUser: { as: "owner", request: ofUser },
    UpdateUser: {
      as: "owner",
      request: async (scene) => ({
        ...(await ofUser(scene)),
        user: { displayName: "Another" },
        updateMask: "displayName",
      }),
    },
    DisableUser: { as: "owner", request: ofUser },
    EnableUser: { as: "owner", request: ofUser },
    DeleteUser: { as: "owner", request: ofUser },
  },
  IAMOrganizationService: {
    ListOrganizations: {
      isShared: true,
      as: "system",
      request: async (scene) => {
        await scene.organization();
        return { pageSize: 1 };
      },
    },
    CreateOrganization: {
      as: "system",
      request: (scene) => ({ organizationId: scene.unique(), displayName: "New" }),
    },
    GetOrganization: {
      as: "system",
      request: async (scene) => ({ organizationId: await scene.organization() }),
    },
    UpdateOrganization: {
      as: "system",
      request: async (scene) => ({
        organizationId: await scene.organization(),
        organization: { displayName: "Changed" },
        updateMask: "displayName",
      }),
    },
    DeleteOrganization: {
      as: "system",
      request: async (scene) => ({ organizationId: await scene.organization() }),
    },
  },
  IAMPasswordService: {
    ChangeMyPassword: {
      as: "login",
      request: () => ({ currentPassword: PASSWORD, newPassword: NEW }),
    },
    CreatePasswordResetLink: { as: "owner", request: ofUser },
  },
  IAMPermissionService: {
    CheckPermission: { as: "hub", request: () => question },
    CheckBulkPermissions: { as: "hub", request: () => ({ checks: [question] }) },
    CheckAnyPermission: {
      as: "hub",
      request: () => ({ subject: someone, resourceType: "project", permission: "read" }),
    },
    ExplainPermission: { as: "hub", request: () => question },
    WriteRelationship: {
      as: "hub",
      request: (scene) => ({ relationship: viewer(scene) }),
    },
    DeleteRelationship: {
      as: "hub",
      request: async (scene) => ({ relationship: await written(scene) }),
    },
    WriteRelationships: {
      as: "hub",
      request: (scene) => ({
        updates: [{ operation: "RELATIONSHIP_OPERATION_TOUCH", relationship: viewer(scene) }],
      }),
    },
    ReadRelationships: {
      as: "hub",
      request: async (scene) => {
        const { resource } = await written(scene);
        return { filter: { resourceType: resource.type, resourceId: resource.id } };
      },
    },
    WatchRelationships: {
      as: "hub",
      request: () => ({}),
      stir: written,
      isLast: ({ updates }) => updates.length > 0,
    },
    GetModel: { as: "hub", request: () => ({}) },
    LookupResources: {
      isShared: true,
      as: "hub",
      request: async (scene) => {
        await written(scene);
        return { subject: someone, resourceType: "project", permission: "read", pageSize: 1 };
      },
    },
    LookupSubjects: {
      as: "hub",
      request: async (scene) => ({
        resource: (await written(scene)).resource,
        permission: "read",
        subjectType: "user",
      }),
    },
  },
  IAMProviderService: {
    ListClients: { as: "system", request: () => ({}) },
    PlanClients: { as: "system", request: newClient },
    ApplyClients: {
      as: "system",
      request: async (scene) => {
        await scene.must("POST", "/v1/iam/system/clients:apply", { clients: [] }, AS_SYSTEM);
        return newClient(scene);
      },
    },
    RotateSigningKey: { as: "system", request: () => ({ urgent: true }) },
  },
  IAMRevocationService: {
    WatchRevocations: { as: "hub", request: () => ({}), isLast: ({ current }) => current },
  },
  IAMSecondFactorService: {
    RemoveUserSecondFactors: { as: "owner", request: ofUser },
  },
  IAMServiceAccountService: {
    ListServiceAccounts: {
      isShared: true,
      as: "owner",
      request: async (scene) => {
        await scene.account();
        await scene.account();
        return { pageSize: 1 };
      },
    },
    GetServiceAccount: { as: "owner", request: ofAccount },
    CreateServiceAccount: { as: "owner", request: () => ({ displayName: "Robot" }) },
    UpdateServiceAccount: {
      as: "owner",
      request: async (scene) => ({
        ...(await ofAccount(scene)),
        serviceAccount: { displayName: "Another" },
        updateMask: "displayName",
      }),
    },
    DisableServiceAccount: { as: "owner", request: ofAccount },
    EnableServiceAccount: { as: "owner", request: ofAccount },
    DeleteServiceAccount: { as: "owner", request: ofAccount },
    CreateServiceAccountKey: { as: "owner", request: ofAccount },
    ListServiceAccountKeys: {
      as: "owner",
      request: async (scene) => {
        const account = await ofAccount(scene);
        await scene.accountKey(account.serviceAccountId);
        return account;
      },
    },
    DeleteServiceAccountKey: {
      as: "owner",
      request: async (scene) => {
        const account = await ofAccount(scene);
        return { ...account, keyId: await scene.accountKey(account.serviceAccountId) };
      },
    },
  },
  IAMSessionService: {
    ListMySessions: { as: "login", request: () => ({}) },
    EndMySession: {
      as: "login",
      request: async (scene) => ({ sessionId: (await scene.login()).sessionId }),
    },
    EndMyOtherSessions: { as: "login", request: () => ({}) },
    ListUserSessions: {
      as: "owner",
      request: async (scene) => ({ userId: (await scene.login()).userId }),
    },
    EndUserSession: {
      as: "owner",
      request: async (scene) => {
        const { userId, sessionId } = await scene.login();
        return { userId, sessionId };
      },
    },
    EndUserSessions: {
      as: "owner",
      request: async (scene) => ({ userId: (await scene.login()).userId }),
    },
  },
};

/** By the full name of the RPC. Lists come before what changes the elements of later ones. */
export const ROWS: ReadonlyMap<string, Row> = new Map(
  Object.entries(BY_SERVICE).flatMap(([service, rows]) =>
    Object.entries(rows).map(([name, row]) => [`svc.iam.v1.${service}/${name}`, row]),
  ),
);
