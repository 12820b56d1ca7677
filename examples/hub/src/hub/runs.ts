import { randomUUID } from "node:crypto";
import { EventEmitter, on } from "node:events";
import { clone, create } from "@bufbuild/protobuf";
import { timestampDate, timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import {
  type LogLine,
  LogLineSchema,
  type Project,
  type Run,
  RunSchema,
  RunState,
  type WatchRunResponse,
} from "../../gen/hub/projects/v1/project_service_pb.ts";
import type {
  ProjectServiceHandlers,
  RunnerServiceHandlers,
} from "../../gen/hub/projects/v1/project_service_server.ts";
import { type Skill, SkillState } from "../../gen/hub/skills/v1/skill_pb.ts";
import { type Collection, found, type Store } from "../store.ts";

const MAX_LINES = 100_000;

type RunHandlers = Pick<ProjectServiceHandlers, "startRun" | "cancelRun" | "getRun" | "watchRun">;

/** The runs of projects and what they log. */
export class Runs {
  readonly #runs: Collection<Run>;
  readonly #lines: Collection<LogLine>;
  readonly #skills: Collection<Skill>;
  /** Emits the id of a run that has changed. */
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(store: Store, skills: Collection<Skill>) {
    this.#runs = store.collection("run", RunSchema);
    this.#lines = store.collection("log_line", LogLineSchema);
    this.#skills = skills;
  }

  all(projectId: bigint): Run[] {
    return this.#runs.list({ parent: String(projectId), limit: 1_000_000 });
  }

  deleteAll(projectId: bigint): void {
    for (const { runId } of this.all(projectId)) this.#lines.deleteBelow(runId);
    this.#runs.deleteBelow(String(projectId));
  }

  /** What the service of projects serves of runs. */
  projectHandlers(projectOf: (id: bigint) => Project): RunHandlers {
    const watch = this.#watch.bind(this);
    return {
      startRun: async ({ projectId, skillId, skillVersion, input }, context) => {
        projectOf(projectId);
        const skill = found(this.#skills.get(skillId), `the skill ${skillId}`);
        if (skill.state !== SkillState.PUBLISHED) {
          throw new ServiceError("FAILED_PRECONDITION", `the skill ${skillId} is not published`);
        }
        const run = create(RunSchema, {
          runId: randomUUID(),
          projectId,
          skillId,
          skillVersion: skillVersion === 0 ? skill.latestVersion : skillVersion,
          state: RunState.RUNNING,
          startedBy: requirePrincipal(context).subjectId,
          startTime: timestampNow(),
          ...(input === undefined ? {} : { input }),
        });
        return { run: this.#save(run) };
      },

      cancelRun: async ({ projectId, runId }) => {
        return { run: this.#end(this.#get(projectId, runId), RunState.CANCELLED) };
      },

      getRun: async ({ projectId, runId }) => ({ run: this.#get(projectId, runId) }),

      async *watchRun({ projectId, runId, since }, { signal }) {
        yield* watch(projectId, runId, since === undefined ? 0 : timestampMs(since), signal);
      },
    };
  }

  /** What runners call. */
  runnerHandlers(): RunnerServiceHandlers {
    return {
      reportLog: async (requests) => {
        let run: Run | undefined;
        let count = 0;
        for await (const { projectId, runId, lines } of requests) {
          run ??= this.#get(projectId, runId);
          if (count + lines.length > MAX_LINES) {
            throw new ServiceError("PAYLOAD_TOO_LARGE", `a report has at most ${MAX_LINES} lines`);
          }
          for (const line of lines) {
            const number = String(Date.now()).padStart(15, "0") + String(count++).padStart(6, "0");
            this.#lines.put(`${run.runId}/${number}`, line, run.runId);
          }
          this.#changes.emit("change", run.runId);
        }
        if (run === undefined)
          throw new ServiceError("INVALID_ARGUMENT", "the first message names the run");
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

  async *#watch(
    projectId: bigint,
    runId: string,
    since: number,
    signal: AbortSignal,
  ): AsyncGenerator<{ event: WatchRunResponse["event"] }> {
    let after = `${runId}/`;
    // Listens before it reads, so that nothing falls in between.
    const changes = on(this.#changes, "change", { signal });
    for (;;) {
      const { state } = this.#get(projectId, runId);
      for (const line of this.#lines.list({ parent: runId, after, limit: MAX_LINES })) {
        if (line.time !== undefined && timestampDate(line.time).getTime() < since) continue;
        yield { event: { case: "line", value: line } };
      }
      after = `${runId}/${String(Date.now()).padStart(15, "0")}`;
      if (state !== RunState.RUNNING) {
        yield { event: { case: "ended", value: state } };
        return;
      }
      for await (const [changed] of changes) if (changed === runId) break;
    }
  }

  /** A run of another project is not found. */
  #get(projectId: bigint, runId: string): Run {
    const run = this.#runs.get(runId);
    return found(run?.projectId === projectId ? run : undefined, `the run ${runId}`);
  }

  #end(run: Run, state: RunState): Run {
    if (run.state !== RunState.RUNNING) return run;
    const ended = clone(RunSchema, run);
    ended.state = state;
    ended.endTime = timestampNow();
    return this.#save(ended);
  }

  #save(run: Run): Run {
    this.#runs.put(run.runId, run, String(run.projectId));
    this.#changes.emit("change", run.runId);
    return run;
  }
}
