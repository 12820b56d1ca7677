import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS, type Json } from "./support/caller.ts";
import { HubProcesses } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { Scene } from "./support/scene.ts";
import { storedIn } from "./support/stored.ts";

let processes: HubProcesses;
let client: ReflectionClient;
let scene: Scene;
let projectId = "";

const upload = (skillId: string, text: string, digest = sha256(text)) => [
  { header: { skillId, digest } },
  { chunk: btoa(text) },
];
const publish = async (skillId: string, fields: object = {}) => {
  const skill = { skillId, spaceId: "tools", displayName: skillId, ...fields };
  await scene.one("SkillService/CreateSkill", { skill });
  await scene.one("SkillPackageService/UploadPackage", upload(skillId, "{}"), AS.git);
  await scene.one("SkillService/ReviewSkill", { skillId, approved: true });
  await scene.one("SkillService/PublishSkill", { skillId });
};

beforeAll(async () => {
  processes = await HubProcesses.start();
  client = new ReflectionClient(processes.grpc);
  scene = new Scene(client);
  await client.registry();
});
afterAll(async () => {
  client?.close();
  await processes?.remove();
});

test("concurrently created projects have different numbers, and pages contain each once", async () => {
  const made = await Promise.all(
    ["a", "b", "c"].map((displayName) => {
      const project = { organizationId: "acme", displayName };
      return scene.one("ProjectService/CreateProject", { project });
    }),
  );
  const ids: string[] = made.map(({ project }) => project.projectId).sort();
  expect(ids).toEqual(["1", "2", "3"]);
  const first = await scene.one("ProjectService/ListProjects", { pageSize: 1 });
  // The first page is deleted; the second page stays the same.
  await scene.one("ProjectService/DeleteProject", { projectId: "1" });
  const next = { pageSize: 1, pageToken: first.nextPageToken };
  const second = await scene.one("ProjectService/ListProjects", next);
  const third = await scene.one("ProjectService/ListProjects", { pageToken: second.nextPageToken });
  const shown = [first, second, third].map(({ projects }) => projects.map(idOf));
  expect(shown).toEqual([["1"], ["2"], ["3"]]);
  projectId = "2";
});

test("of two owners that are revoked concurrently, one stays", async () => {
  const members = ["alice", "bob"].map((userId) => ({ role: "ROLE_OWNER", userId }));
  await scene.one("AuthzService/GrantRole", { projectId, member: members[1] });
  const answers = await Promise.all(
    members.map((member) => {
      const rpc = "hub.authz.v1.AuthzService/RevokeRole";
      return client.call(rpc, { projectId, member }, AS.alice);
    }),
  );
  expect(answers.map(({ code }) => code).sort()).toEqual(["failed_precondition", "ok"]);
  const listed = await scene.one("AuthzService/ListMembers", { projectId, role: "ROLE_OWNER" });
  expect(listed.members).toHaveLength(1);
});

test("a role is granted to a user or a group, not to everyone or nobody", async () => {
  const grant = "AuthzService/GrantRole";
  for (const subject of [{ userId: "*" }, { userId: "" }, { groupId: "eng#member" }, {}]) {
    const member = { role: "ROLE_VIEWER", ...subject };
    await scene.refused(grant, { projectId, member }, AS.alice, "invalid_argument");
  }
  const member = { role: "ROLE_UNSPECIFIED", userId: "bob" };
  await scene.refused(grant, { projectId, member }, AS.alice, "invalid_argument");
});

test("labels do not feature a skill, and a catalog accepts only published skills", async () => {
  await publish("plain", { labels: { catalog: "recommended" } });
  const featured = async () =>
    (await scene.one("SkillService/ListFeaturedSkills", {}, AS.nobody)).skills.map(skillIdOf);
  expect(await featured()).toEqual([]);
  await scene.one("SkillService/CreateSkill", {
    skill: { skillId: "draft", spaceId: "tools", displayName: "Draft" },
  });
  const entry = { catalog: "CATALOG_RECOMMENDED", skillId: "draft" };
  await scene.refused("SkillService/AddSkillToCatalog", entry, AS.alice, "failed_precondition");
  await scene.one("SkillService/AddSkillToCatalog", { ...entry, skillId: "plain" });
  expect(await featured()).toEqual(["plain"]);
});

test("a new version gives the skill another etag", async () => {
  const { etag } = (await scene.one("SkillService/GetSkill", { skillId: "draft" })).skill;
  await scene.one("SkillPackageService/UploadPackage", upload("draft", "{}"), AS.git);
  const stale = { skill: { skillId: "draft", displayName: "Stale", etag } };
  await scene.refused("SkillService/UpdateSkill", stale, AS.alice, "failed_precondition");
});

test("a package that does not match its header changes nothing", async () => {
  const before = storedIn(processes.data);
  const rpc = "SkillPackageService/UploadPackage";
  const none = upload("none", "{}");
  const [header, chunk] = upload("draft", "{}");
  const wrong: [Json[], string][] = [
    [none, "not_found"],
    [upload("draft", "{}", sha256("other")), "invalid_argument"],
    [upload("draft", "[]"), "invalid_argument"],
    [upload("draft", '{"a":1}'), "invalid_argument"],
    [[chunk, header], "invalid_argument"],
    [[header, header], "invalid_argument"],
    [[], "invalid_argument"],
  ];
  for (const [requests, code] of wrong) await scene.refused(rpc, requests, AS.git, code);
  expect(storedIn(processes.data)).toEqual(before);
});

test("two concurrent reports lose no line, and each watcher sees every line once", async () => {
  const start = { projectId, skillId: "plain" };
  const { runId } = (await scene.one("ProjectService/StartRun", start)).run;
  const watched = scene.all("ProjectService/WatchRun", { projectId, runId });
  const texts = (name: string) => Array.from({ length: 150 }, (_, index) => `${name} ${index}`);
  const report = (name: string) => {
    const requests = texts(name).map((text) => ({ projectId, runId, lines: [{ text }] }));
    return scene.one("RunnerService/ReportLog", requests, AS.git);
  };
  const counts = await Promise.all([report("left"), report("right")]);
  expect(counts).toEqual([{ lineCount: "150" }, { lineCount: "150" }]);
  const state = "RUN_STATE_SUCCEEDED";
  await scene.one("RunnerService/FinishRun", { projectId, runId, state }, AS.git);
  const seen = (await watched).slice(0, -1).map(({ line }) => line.text as string);
  for (const name of ["left", "right"]) {
    expect(seen.filter((text) => text.startsWith(name))).toEqual(texts(name));
  }
  // An ended run stays ended.
  const late = { projectId, runId, state: "RUN_STATE_FAILED" };
  await scene.one("RunnerService/FinishRun", late, AS.git);
  const { run } = await scene.one("ProjectService/CancelRun", { projectId, runId });
  expect(run.state).toBe(state);
  await scene.refused("ProjectService/GetRun", { projectId: "3", runId }, AS.alice, "not_found");
});

test("deletion leaves no relationship, row or repository", async () => {
  await scene.one("SkillService/DeleteSkill", { skillId: "plain" });
  await scene.one("ProjectService/DeleteProject", { projectId });
  const stored = storedIn(processes.data);
  const relationships = stored["platform.relationships.db relationships"] as Json[];
  const left = relationships.filter(({ resource_type: type, resource_id: id }) => {
    return `${type}:${id}` === "skill:plain" || `${type}:${id}` === `project:${projectId}`;
  });
  expect(left).toEqual([]);
  const rows = [...(stored["hub.db item"] ?? []), ...(stored["git.db item"] ?? [])] as Json[];
  const kept = rows.map(({ collection, id }) => `${collection} ${id}`);
  expect(kept.filter((row) => /plain|^run |^log_line /.test(row))).toEqual([]);
});

test("a request that is only validated creates nothing", async () => {
  const before = storedIn(processes.data);
  const skill = { skillId: "checked", spaceId: "tools", displayName: "Checked" };
  await scene.one("SkillService/CreateSkill", { skill, validateOnly: true });
  expect(storedIn(processes.data)).toEqual(before);
});

test("a service with a user's name is not that user", async () => {
  await scene.one("AuthnService/RecordLogin", { login: { userId: "git" } }, AS.git);
  expect((await scene.one("AuthnService/ListMyLogins", {}, AS.git)).logins).toEqual([]);
  const member = { role: "ROLE_VIEWER", userId: "git" };
  await scene.one("AuthzService/GrantRole", { projectId: "3", member });
  const held = await scene.one("AuthzService/ListMyPermissions", { projectId: "3" }, AS.git);
  expect(held).toEqual({ permissions: [] });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function idOf({ projectId: id }: Json): string {
  return id;
}

function skillIdOf({ skillId }: Json): string {
  return skillId;
}
