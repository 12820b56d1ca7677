import { expect } from "vitest";
import { AS, type Caller, type Json } from "./caller.ts";
import { ROUTES } from "./routes.ts";
import { storedIn } from "./stored.ts";

/** Existing data that the refused calls would change. */
export interface Existing {
  readonly projectId: string;
  readonly runId: string;
  /** The folder in which it is stored. */
  readonly data: string;
}

/** The code that each caller gets for each exposure. */
const EXPECTED = {
  mallory: {
    AUTHORIZED: "permission_denied",
    INTERNAL: "permission_denied",
    SYSTEM: "permission_denied",
  },
  nobody: {
    AUTHENTICATED: "unauthenticated",
    AUTHORIZED: "unauthenticated",
    INTERNAL: "unauthenticated",
    SYSTEM: "unauthenticated",
  },
  thief: { INTERNAL: "unauthenticated", SYSTEM: "unauthenticated" },
  git: { AUTHORIZED: "permission_denied", SYSTEM: "permission_denied" },
  system: { AUTHORIZED: "permission_denied", INTERNAL: "permission_denied" },
} satisfies Partial<Record<keyof typeof AS, Readonly<Record<string, string>>>>;

/** A caller that is refused. */
export type Stranger = keyof typeof EXPECTED;
export const STRANGERS = Object.keys(EXPECTED) as Stranger[];

/** Every RPC refuses the callers that its exposure does not allow, and changes nothing. */
export async function expectRefusals(
  caller: Caller,
  existing: Existing,
  strangers: readonly Stranger[],
): Promise<void> {
  const before = storedIn(existing.data);
  const requests = requestsFor(existing);
  const calls: [string, Stranger, string][] = [];
  for (const who of strangers) {
    const codes: Readonly<Record<string, string>> = EXPECTED[who];
    for (const { rpc, exposure } of ROUTES) {
      const code = codes[exposure];
      if (code !== undefined) calls.push([rpc, who, code]);
    }
  }
  const got: string[] = [];
  const answer = async ([rpc, who]: (typeof calls)[number]) => {
    const { code } = await caller.call(rpc, structuredClone(requests[rpc]), AS[who]);
    got.push(`${rpc} ${who} ${code}`);
  };
  // A few at a time, since some callers start a program for each call.
  const rest = [...calls];
  const work = async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) await answer(next);
  };
  await Promise.all([work(), work(), work(), work()]);
  expect(got.sort()).toEqual(calls.map(([rpc, who, code]) => `${rpc} ${who} ${code}`).sort());
  expect(storedIn(existing.data)).toEqual(before);
}

/** Requests that would each have an effect if they were allowed. */
function requestsFor({ projectId, runId }: Existing): Readonly<Record<string, Json>> {
  const member = { role: "ROLE_OWNER", userId: "mallory" };
  const skill = { skillId: "launch", displayName: "Mine", spaceId: "tools" };
  const skillId = "launch";
  const ofServices: Record<string, Record<string, Json>> = {
    "hub.authn.v1.AuthnService": {
      ListLoginProviders: {},
      GetMe: {},
      ListMyLogins: {},
      RecordLogin: { login: { userId: "alice" } },
      PurgeLogins: { before: "2030-01-01T00:00:00Z" },
    },
    "hub.authz.v1.AuthzService": {
      ListRoles: {},
      ListMyPermissions: { projectId },
      ListMembers: { projectId },
      GrantRole: { projectId, member },
      RevokeRole: { projectId, member: { role: "ROLE_OPERATOR", userId: "bob" } },
      CheckPush: { projectId, userId: "mallory", branch: "refs/heads/main" },
    },
    "hub.projects.v1.ProjectService": {
      ListProjects: {},
      GetProject: { projectId },
      CreateProject: { project: { organizationId: "acme", displayName: "Mine" } },
      UpdateProject: { project: { projectId, displayName: "Mine" } },
      SetProjectSettings: { projectId, settings: {} },
      DeleteProject: { projectId },
      GetUsage: {},
      StartRun: { projectId, skillId },
      CancelRun: { projectId, runId },
      GetRun: { projectId, runId },
      WatchRun: { projectId, runId },
    },
    "hub.projects.v1.RunnerService": {
      ReportLog: { projectId, runId, lines: [{ text: "mine" }] },
      FinishRun: { projectId, runId, state: "RUN_STATE_FAILED" },
    },
    "hub.skills.v1.SkillService": {
      ListFeaturedSkills: {},
      ListSkills: {},
      GetSkill: { skillId },
      CreateSkill: { skill: { ...skill, skillId: "mine" } },
      UpdateSkill: { skill },
      DeleteSkill: { skillId },
      ReviewSkill: { skillId, approved: false },
      PublishSkill: { skillId },
      AddSkillToCatalog: { catalog: "CATALOG_COMMUNITY", skillId },
      GetSkillVersion: { skillId, version: 1 },
      GetSkillFile: { skillId, path: "src/main.py" },
    },
    "hub.skills.v1.SkillPackageService": {
      UploadPackage: { header: { skillId, digest: "none" } },
      RebuildIndex: {},
    },
  };
  const requests = Object.entries(ofServices).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, request]) => [`${service}/${name}`, request]),
  );
  expect(requests.map(([rpc]) => rpc).sort()).toEqual(ROUTES.map(({ rpc }) => rpc).sort());
  return Object.fromEntries(requests);
}
