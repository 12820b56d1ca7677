import { createHash } from "node:crypto";
import { expect } from "vitest";
import { AS, type Caller } from "./caller.ts";
import { expectRefusals, STRANGERS, type Stranger } from "./refusals.ts";
import { Scene } from "./scene.ts";

const PACKAGE = JSON.stringify({ "src/main.py": "print('lift-off')\n", "README.md": "# Launch\n" });
/** The last page of a listing. */
const LAST = { nextPageToken: "" };
const DIGEST = createHash("sha256").update(PACKAGE).digest("hex");

/**
 * What people and services do with a hub that has just been installed. Every RPC is called,
 * and what one stores another one shows.
 */
export async function tellStory(
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

async function publishSkill(scene: Scene): Promise<void> {
  const wanted = { skillId: "launch", spaceId: "tools", displayName: "Launch", tags: ["space"] };
  const { skill } = await scene.one("SkillService/CreateSkill", { skill: wanted });
  expect(skill).toMatchObject({ ...wanted, state: "SKILL_STATE_DRAFT" });
  await scene.refused("SkillService/CreateSkill", { skill: wanted }, AS.alice, "already_exists");
  expect(await scene.one("SkillService/GetSkill", { skillId: "launch" })).toEqual({ skill });
  const drafts = { spaceId: "tools", states: ["SKILL_STATE_DRAFT"] };
  expect(await scene.one("SkillService/ListSkills", drafts)).toEqual({ skills: [skill], ...LAST });
  const changed = { skillId: "launch", description: "Lifts off.\nThen more." };
  const update = { skill: { ...changed, tags: ["lost"] }, updateMask: "description" };
  const updated = await scene.one("SkillService/UpdateSkill", update);
  expect(updated.skill).toMatchObject({ ...changed, tags: ["space"] });

  const chunks = [PACKAGE.slice(0, 10), PACKAGE.slice(10)].map((text) => btoa(text));
  const upload = [
    { header: { skillId: "launch", digest: DIGEST } },
    ...chunks.map((chunk) => ({ chunk })),
  ];
  const uploaded = await scene.one("SkillPackageService/UploadPackage", upload, AS.git);
  expect(uploaded.version).toMatchObject({ version: 1, digest: DIGEST });
  const version = { skillId: "launch", version: 1 };
  expect(await scene.one("SkillService/GetSkillVersion", version)).toEqual(uploaded);
  const latest = { skillId: "launch" };
  expect(await scene.one("SkillService/GetSkillVersion", latest)).toEqual(uploaded);
  const file = await scene.one("SkillService/GetSkillFile", { ...latest, path: "src/main.py" });
  expect(atob(file.content)).toBe("print('lift-off')\n");

  await scene.refused("SkillService/PublishSkill", latest, AS.alice, "failed_precondition");
  const reviewed = await scene.one("SkillService/ReviewSkill", { ...latest, approved: true });
  expect(reviewed.skill.state).toBe("SKILL_STATE_REVIEWED");
  const published = await scene.one("SkillService/PublishSkill", latest);
  expect(published.skill).toMatchObject({ state: "SKILL_STATE_PUBLISHED", latestVersion: 1 });
  const entry = { catalog: "CATALOG_RECOMMENDED", skillId: "launch" };
  await scene.one("SkillService/AddSkillToCatalog", entry);
  await scene.one("SkillPackageService/RebuildIndex", {}, AS.system);
  const { skills } = await scene.one("SkillService/ListFeaturedSkills", {}, AS.nobody);
  expect(skills).toEqual([{ skillId: "launch", displayName: "Launch", summary: "Lifts off." }]);
}

async function runSkill(scene: Scene, projectId: string): Promise<string> {
  const start = { projectId, skillId: "launch", input: { height: 100 } };
  const { run } = await scene.one("ProjectService/StartRun", start, AS.bob);
  expect(run).toMatchObject({
    ...start,
    skillVersion: 1,
    startedBy: "bob",
    state: "RUN_STATE_RUNNING",
  });
  const { runId } = run;
  const watched = scene.all("ProjectService/WatchRun", { projectId, runId }, AS.bob);
  const lines = ["three", "two", "one"].map((text) => ({ text, time: "2026-01-01T00:00:00Z" }));
  const reports = lines.map((line) => ({ projectId, runId, lines: [line] }));
  const reported = await scene.one("RunnerService/ReportLog", reports, AS.git);
  expect(reported).toEqual({ lineCount: "3" });
  const end = { projectId, runId, state: "RUN_STATE_SUCCEEDED", output: { landed: true } };
  await scene.one("RunnerService/FinishRun", end, AS.git);
  expect(await watched).toEqual([...lines.map((line) => ({ line })), { ended: end.state }]);
  const ended = await scene.one("ProjectService/GetRun", { projectId, runId });
  expect(ended.run).toMatchObject({ runId, state: end.state, output: { landed: true } });
  await scene.refused("RunnerService/ReportLog", reports, AS.git, "failed_precondition");

  const second = (await scene.one("ProjectService/StartRun", start, AS.bob)).run.runId;
  const cancelled = await scene.one(
    "ProjectService/CancelRun",
    { projectId, runId: second },
    AS.bob,
  );
  expect(cancelled.run.state).toBe("RUN_STATE_CANCELLED");
  const usage = await scene.one("ProjectService/GetUsage", {});
  expect(usage).toMatchObject({ projectCount: 1, runCount: "2" });
  return runId;
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
  // Nothing of a deleted project is left to a later one.
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
