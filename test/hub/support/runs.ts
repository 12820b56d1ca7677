import { AS } from "./caller.ts";
import type { Scene } from "./scene.ts";
import { publishSkill } from "./story-of-skills.ts";

/** A project of alice's, with a skill that can run. */
export interface Workshop {
  readonly projectId: string;
}

export async function openWorkshop(scene: Scene): Promise<Workshop> {
  await publishSkill(scene);
  const wanted = { organizationId: "acme", displayName: "Rockets", runTimeout: "600s" };
  const { project } = await scene.one("ProjectService/CreateProject", { project: wanted });
  return { projectId: project.projectId };
}

/** Starts a run, and returns its id. */
export async function startRun(scene: Scene, { projectId }: Workshop): Promise<string> {
  const start = { projectId, skillId: "launch", input: { height: 100 } };
  const { run } = await scene.one("ProjectService/StartRun", start);
  return run.runId;
}

/** The messages by which the Git service reports lines of a run. */
export function reportsOf({ projectId }: Workshop, runId: string, texts: readonly string[]) {
  return texts.map((text) => ({ projectId, runId, lines: [{ text }] }));
}

/** Ends a run successfully. */
export async function endRun(scene: Scene, { projectId }: Workshop, runId: string): Promise<void> {
  const end = { projectId, runId, state: "RUN_STATE_SUCCEEDED" };
  await scene.one("RunnerService/FinishRun", end, AS.git);
}
