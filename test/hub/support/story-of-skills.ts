import { createHash } from "node:crypto";
import { expect } from "vitest";
import { AS } from "./caller.ts";
import { LAST, type Scene } from "./scene.ts";

const PACKAGE = JSON.stringify({ "src/main.py": "print('lift-off')\n", "README.md": "# Launch\n" });
const DIGEST = createHash("sha256").update(PACKAGE).digest("hex");

/** A skill from its draft to the catalog, with its package and review. */
export async function publishSkill(scene: Scene): Promise<void> {
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

/** A run of the skill from start to end with its log, and a cancelled run. */
export async function runSkill(scene: Scene, projectId: string): Promise<string> {
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
