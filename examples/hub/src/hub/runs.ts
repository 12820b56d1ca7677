import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import {
  type Project,
  type Run,
  RunSchema,
  RunState,
} from "../../gen/hub/projects/v1/project_service_pb.ts";
import type {
  ProjectServiceHandlers,
  RunnerServiceHandlers,
} from "../../gen/hub/projects/v1/project_service_server.ts";
import { SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import { type Collection, found, type Store } from "../store.ts";
import type { Packages } from "./packages.ts";
import { RunLog } from "./run-log.ts";
import type { Skills } from "./skill-store.ts";

type RunHandlers = Pick<ProjectServiceHandlers, "startRun" | "cancelRun" | "getRun" | "watchRun">;

/** What can be run. */
export interface RunParts {
  readonly skills: Skills;
  readonly packages: Packages;
}

/** The runs of projects. */
export class Runs {
  readonly #runs: Collection<Run>;
  readonly #log: RunLog;
  readonly #parts: RunParts;

  constructor(store: Store, parts: RunParts) {
    this.#runs = store.collection("run", RunSchema);
    this.#log = new RunLog(store);
    this.#parts = parts;
  }

  all(projectId: bigint): Iterable<[string, Run]> {
    return this.#runs.all(String(projectId));
  }

  deleteAll(projectId: bigint): void {
    for (const [runId] of this.all(projectId)) this.#log.delete(runId);
    this.#runs.deleteBelow(String(projectId));
  }

  /** What the service of projects serves of runs. */
  projectHandlers(projectOf: (id: bigint) => Project): RunHandlers {
    const { skills, packages } = this.#parts;
    const log = this.#log;
    const get = this.#get.bind(this);
    return {
      startRun: async ({ projectId, skillId, skillVersion, input }, context) => {
        projectOf(projectId);
        const skill = skills.get(skillId);
        if (skill.state !== SkillState.PUBLISHED) {
          throw new ServiceError("FAILED_PRECONDITION", `the skill ${skillId} is not published`);
        }
        const run = create(RunSchema, {
          runId: randomUUID(),
          projectId,
          skillId,
          skillVersion: packages.version(skill, skillVersion).version,
          state: RunState.RUNNING,
          startedBy: requirePrincipal(context).subjectId,
          startTime: timestampNow(),
          ...(input === undefined ? {} : { input }),
        });
        return { run: this.#save(run) };
      },

      cancelRun: async ({ projectId, runId }) => {
        return { run: this.#end(get(projectId, runId), RunState.CANCELLED) };
      },

      getRun: async ({ projectId, runId }) => ({ run: get(projectId, runId) }),

      async *watchRun({ projectId, runId, since }, { signal }) {
        const from = since === undefined ? 0 : timestampMs(since);
        for await (const line of log.follow(
          runId,
          () => isRunning(get(projectId, runId)),
          signal,
        )) {
          if (line.time === undefined || timestampMs(line.time) >= from) {
            yield { event: { case: "line", value: line } };
          }
        }
        yield { event: { case: "ended", value: get(projectId, runId).state } };
      },
    };
  }

  /** What runners call. */
  runnerHandlers(): RunnerServiceHandlers {
    return {
      reportLog: async (requests) => {
        let run: Pick<Run, "projectId" | "runId"> | undefined;
        let count = 0;
        for await (const { projectId, runId, lines } of requests) {
          run ??= { projectId, runId };
          const current = this.#get(run.projectId, run.runId);
          if (!isRunning(current)) {
            throw new ServiceError("FAILED_PRECONDITION", `the run ${run.runId} has ended`);
          }
          this.#log.append(run.runId, lines);
          count += lines.length;
        }
        if (run === undefined) {
          throw new ServiceError("INVALID_ARGUMENT", "the first message names the run");
        }
        return { lineCount: BigInt(count) };
      },

      finishRun: async ({ projectId, runId, state, output }) => {
        if (state !== RunState.SUCCEEDED && state !== RunState.FAILED) {
          throw new ServiceError("INVALID_ARGUMENT", "a run ends as SUCCEEDED or FAILED");
        }
        const run = this.#get(projectId, runId);
        this.#end(output === undefined ? run : { ...run, output }, state);
        return {};
      },
    };
  }

  /** A run of another project is not found. */
  #get(projectId: bigint, runId: string): Run {
    const run = this.#runs.get(runId);
    return found(run?.projectId === projectId ? run : undefined, `the run ${runId}`);
  }

  /** A run ends once: later calls change nothing. */
  #end(run: Run, state: RunState): Run {
    return isRunning(run) ? this.#save({ ...run, state, endTime: timestampNow() }) : run;
  }

  #save(run: Run): Run {
    this.#runs.put(run.runId, run, String(run.projectId));
    this.#log.changed(run.runId);
    return run;
  }
}

function isRunning({ state }: Run): boolean {
  return state === RunState.RUNNING;
}
