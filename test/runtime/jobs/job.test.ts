import { expect, test } from "vitest";
import { createServer } from "../../../src/runtime/index.ts";
import { checkJobs } from "../../../src/runtime/jobs/job.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const run = async () => undefined;

test.each([
  [
    { name: "Clean Up", every: "1m", run },
    'the name "Clean Up" of job 1 is not valid: use lower-case',
  ],
  [{ every: "1m", run }, "the name undefined of job 1 is not valid"],
  [{ name: "a".repeat(64), every: "1m", run }, "is not valid"],
  [{ name: "clean", every: "1m" }, "the job clean has no function run"],
  [{ name: "clean", run }, "the job clean: every is missing: write a number with ms, s, m, h or d"],
  [{ name: "clean", every: "", run }, 'every is "": write'],
  [{ name: "clean", every: "0s", run }, 'every is "0s"'],
  [{ name: "clean", every: "1.5h", run }, 'every is "1.5h"'],
  [{ name: "clean", every: "-1m", run }, 'every is "-1m"'],
  [{ name: "clean", every: "1 m", run }, 'every is "1 m"'],
  [{ name: "clean", every: 60_000, run }, "every is 60000"],
  [{ name: "clean", every: "10", run }, 'every is "10"'],
  [{ name: "clean", every: "99ms", run }, "from 100ms to 20d"],
  [{ name: "clean", every: "21d", run }, "from 100ms to 20d"],
  [{ name: "clean", every: "1m\n", run }, "every is"],
  [{ name: "clean", every: "1m", deadline: "soon", run }, 'deadline is "soon"'],
  [
    { name: "clean", every: "1m", exclusive: true, run },
    "which needs a database for its lease: configure",
  ],
])("%j is refused", (job, message) => {
  const { problems } = checkJobs([job as never], false);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(message);
});

test("two of the same name are refused", () => {
  const job = { name: "clean", every: "1m", run };
  expect(checkJobs([job, job], false).problems).toEqual(["there are two jobs clean: rename one"]);
});

test.each([
  ["100ms", undefined, 100, 100],
  ["30s", undefined, 30_000, 30_000],
  ["1h", undefined, 3_600_000, 300_000],
  ["1m", "10m", 60_000, 600_000],
  ["20d", "1d", 1_728_000_000, 86_400_000],
])("every %s with deadline %s", (every, deadline, everyMs, deadlineMs) => {
  const times = { every, ...(deadline === undefined ? {} : { deadline }) };
  const { jobs, problems } = checkJobs([{ name: "clean", run, ...times, exclusive: true }], true);
  expect(problems).toEqual([]);
  expect(jobs[0]).toMatchObject({ everyMs, deadlineMs });
});

test("a server with such a job is not created", async () => {
  const created = createServer({
    configuration: vaultConfiguration("/nowhere", {}, {}),
    bindings: [],
    jobs: [{ name: "clean", every: "often", run }],
  });
  await expect(created).rejects.toThrow('the job clean: every is "often"');
});
