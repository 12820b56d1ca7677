import { expect } from "vitest";
import { AS, type Caller } from "./caller.ts";
import { expectRefusals, STRANGERS, type Stranger } from "./refusals.ts";
import { LAST, Scene } from "./scene.ts";
import { publishSkill, runSkill } from "./story-of-skills.ts";

/**
 * A scenario of users and services with a new hub. It calls every RPC, and reads back
 * what other RPCs stored.
 */
export async function playStory(
  caller: Caller,
  data: string,
  strangers: readonly Stranger[] = STRANGERS,
): Promise<void> {
  const scene = new Scene(caller);
  await login(scene);
  const projectId = await shareProject(scene);
  await publishSkill(scene);
  const runId = await runSkill(scene, projectId);
  await expectRefusals(caller, { projectId, runId, data }, strangers);
  await cleanUp(scene, projectId);
}

async function login(scene: Scene): Promise<void> {
  const { providers } = await scene.one("AuthnService/ListLoginProviders", {}, AS.nobody);
  expect(providers[0].providerId).toBe("corporate");
  const { me } = await scene.one("AuthnService/GetMe", {});
  expect(me).toMatchObject({ userId: "alice", organizationId: "acme" });

  const old = {
    userId: "alice",
    clientAddress: "192.0.2.1",
    userAgent: "old",
    loginTime: "2020-01-01T00:00:00Z",
  };
  const recent = { ...old, userAgent: "new", loginTime: "2026-01-01T00:00:00Z" };
  await scene.one("AuthnService/RecordLogin", { login: old }, AS.git);
  await scene.one("AuthnService/RecordLogin", { login: recent }, AS.git);
  const first = await scene.one("AuthnService/ListMyLogins", { pageSize: 1 });
  expect(first.logins).toEqual([recent]);
  const next = { pageSize: 1, pageToken: first.nextPageToken };
  expect(await scene.one("AuthnService/ListMyLogins", next)).toEqual({ logins: [old], ...LAST });
}

async function shareProject(scene: Scene): Promise<string> {
  const wanted = { organizationId: "acme", displayName: "Rockets", runTimeout: "60s" };
  const { project } = await scene.one("ProjectService/CreateProject", { project: wanted });
  const { projectId, etag } = project;
  expect(project).toMatchObject({ ...wanted, projectId: "1" });
  expect(await scene.one("ProjectService/GetProject", { projectId })).toEqual({ project });
  const listed = await scene.one("ProjectService/ListProjects", { organizationId: "acme" });
  expect(listed).toEqual({ projects: [project], ...LAST });

  const renamed = { project: { projectId, displayName: "Big rockets", etag } };
  const updated = await scene.one("ProjectService/UpdateProject", renamed);
  expect(updated.project).toMatchObject({ ...wanted, displayName: "Big rockets" });
  await scene.refused("ProjectService/UpdateProject", renamed, AS.alice, "failed_precondition");
  const settings = { color: "red", retries: 3 };
  const set = await scene.one("ProjectService/SetProjectSettings", { projectId, settings });
  expect(set).toEqual({ settings });

  const { roles } = await scene.one("AuthzService/ListRoles", {});
  expect(roles.map(({ role }: { role: string }) => role)).toContain("ROLE_OPERATOR");
  const member = { role: "ROLE_OPERATOR", userId: "bob" };
  expect(await scene.one("AuthzService/GrantRole", { projectId, member })).toEqual({ member });
  const owner = { role: "ROLE_OWNER", userId: "alice" };
  const { members } = await scene.one("AuthzService/ListMembers", { projectId });
  expect(members).toHaveLength(2);
  expect(members).toEqual(expect.arrayContaining([owner, member]));
  const operators = await scene.one("AuthzService/ListMembers", { projectId, role: member.role });
  expect(operators).toEqual({ members: [member], ...LAST });
  const held = await scene.one("AuthzService/ListMyPermissions", { projectId }, AS.bob);
  expect(held).toEqual({ permissions: ["operate", "read"] });
  const last = { projectId, member: owner };
  await scene.refused("AuthzService/RevokeRole", last, AS.alice, "failed_precondition");

  const push = { projectId, userId: "alice", branch: "refs/heads/main" };
  expect(await scene.one("AuthzService/CheckPush", push, AS.git)).toEqual({
    allowed: true,
    message: "",
  });
  const refused = await scene.one("AuthzService/CheckPush", { ...push, userId: "bob" }, AS.git);
  expect(refused).toEqual({ allowed: false, message: "you may not write to project 1" });
  return projectId;
}

async function cleanUp(scene: Scene, projectId: string): Promise<void> {
  const member = { role: "ROLE_OPERATOR", userId: "bob" };
  await scene.one("AuthzService/RevokeRole", { projectId, member });
  await scene.refused("ProjectService/GetProject", { projectId }, AS.bob, "permission_denied");
  const before = "2021-01-01T00:00:00Z";
  const purged = await scene.one("AuthnService/PurgeLogins", { before }, AS.system);
  expect(purged).toEqual({ purgedCount: "1" });
  expect((await scene.one("AuthnService/ListMyLogins", {})).logins).toHaveLength(1);

  await scene.one("SkillService/DeleteSkill", { skillId: "launch" });
  expect((await scene.one("SkillService/ListFeaturedSkills", {}, AS.nobody)).skills).toEqual([]);
  await scene.refused(
    "SkillService/GetSkill",
    { skillId: "launch" },
    AS.alice,
    "permission_denied",
  );
  // A later project gets nothing of a deleted one.
  await scene.one("AuthzService/GrantRole", { projectId, member });
  await scene.one("ProjectService/DeleteProject", { projectId });
  const next = { project: { organizationId: "acme", displayName: "Next" } };
  const { project } = await scene.one("ProjectService/CreateProject", next);
  expect(project.projectId).toBe("2");
  const usage = await scene.one("ProjectService/GetUsage", {});
  expect(usage).toEqual({ projectCount: 1, runCount: "0", runTime: "0s" });
  for (const id of [projectId, project.projectId]) {
    await scene.refused(
      "ProjectService/GetProject",
      { projectId: id },
      AS.bob,
      "permission_denied",
    );
  }
}
