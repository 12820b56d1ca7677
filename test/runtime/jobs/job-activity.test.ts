/** Whether a replica runs, by the lease of a job. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { databaseTime } from "../../../src/database/database-time.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { isJobActive } from "../../../src/runtime/jobs/job-activity.ts";
import {
  JOB_MIGRATIONS,
  JobLease,
  LEASE_MS,
  type LeaseTables,
} from "../../../src/runtime/jobs/job-lease.ts";
import { JobRunner, type Lease } from "../../../src/runtime/jobs/job-runner.ts";
import { type Configured, onBoth } from "../../database/service/targets.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { until } from "../../support/until.ts";

const JOB = { name: "clean", everyMs: 1000 };
const MINUTE = 60_000;

async function migrated(config: Configured): Promise<Database<LeaseTables>> {
  const database = await openDatabase<LeaseTables>(config.database, { logger: SILENT });
  await migrate(database, JOB_MIGRATIONS);
  return database;
}

/** Writes the lease, in milliseconds from now. */
async function write({ kysely, kind }: Database<LeaseTables>, expires: number, due: number) {
  const at = (ms: number) => sql<number>`${databaseTime(kind)} + ${ms}`;
  await kysely
    .insertInto("job_leases")
    .values({ name: JOB.name, holder: "x", expires: at(expires), due: at(due) })
    .execute();
}

test("a database without a file is refused, and is not one that does not exist yet", async () => {
  await expect(isJobActive({ database: settingsOf({}) }, JOB)).rejects.toThrow(/file must not be/);
});

test("a file that cannot be looked at is refused in one line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "job-activity-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const loop = join(folder, "loop.db");
  symlinkSync(loop, loop);
  for (const [file, code] of [
    [loop, "ELOOP"],
    [join(folder, "a".repeat(300)), "ENAMETOOLONG"],
  ] as const) {
    const error = await isJobActive({ database: settingsOf({ file }) }, JOB).catch(
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error.message).toBe(
      `the path of the store ${file} cannot be used (${code}): name another file`,
    );
  }
});

await onBoth("whether a job is active", ({ fresh }) => {
  test("it is not, without a database and before its first start", async () => {
    expect(await isJobActive({}, JOB)).toBe(false);
    expect(await isJobActive(await fresh(), JOB)).toBe(false);
  });

  test("is yes while a lease is held, and while runs follow each other", async () => {
    const config = await fresh();
    const database = await migrated(config);
    const lease = new JobLease(database, JOB.name, JOB.everyMs);
    expect(await lease.take()).toBe(0);
    expect(await isJobActive(config, JOB)).toBe(true);
    await lease.giveBack(JOB.everyMs);
    const observed = isJobActive(config, JOB);
    await until("the next run", async () => (await lease.take()) === 0);
    await lease.giveBack(JOB.everyMs);
    expect(await observed).toBe(true);
    await database.close();
  });

  test("it is not, after a run that ended and has no next one", async () => {
    const config = await fresh();
    const database = await migrated(config);
    await write(database, 0, 100);
    expect(await isJobActive(config, { ...JOB, everyMs: 100 })).toBe(false);
    await database.close();
  });
});

// With SQLite, whose time is that of the timers.
describe("whether a job is active, by a clock that only the test moves", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-activity-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  const fresh = () => ({ database: settingsOf({ file: join(folder, `${count++}.db`) }) });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  function stopTime() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  }

  /** Observes, moving the clock. @returns the answer, and after how long it came */
  async function observe(config: Configured): Promise<[isActive: boolean, afterMs: number]> {
    const begin = Date.now();
    let answer: boolean | undefined;
    const observed = isJobActive(config, JOB).then((isActive) => {
      answer = isActive;
    });
    while (answer === undefined && Date.now() - begin < MINUTE) {
      // The database answers in turns of the event loop.
      for (let turns = 0; turns < 20; turns++) await turn();
      await vi.advanceTimersByTimeAsync(50);
    }
    const afterMs = Date.now() - begin;
    await observed;
    return [answer as boolean, afterMs];
  }

  test.each<[string, number, number, least: number]>([
    ["a run that ended, and no next one", 0, 1900, 4900],
    ["a run of long ago", -MINUTE, -MINUTE, 4100],
    // It was killed.
    ["a lease that has expired", -1, -MINUTE, 4100],
    // No run can have set them: the clock was ahead.
    ["a lease that lasts too long", LEASE_MS + MINUTE, -MINUTE, 4100],
    ["a run that is due much later", 0, 60 * MINUTE, 5000],
  ])("it is not, after %s, once an interval has passed", async (_, expires, due, least) => {
    const config = fresh();
    const database = await migrated(config);
    stopTime();
    await write(database, expires, due);
    const [isActive, afterMs] = await observe(config);
    expect(isActive).toBe(false);
    expect(afterMs).toBeGreaterThanOrEqual(least);
    expect(afterMs).toBeLessThan(least + 1000);
    await database.close();
  });

  test("it is not, before the first run, and of another job", async () => {
    const config = fresh();
    const database = await migrated(config);
    await database.kysely
      .insertInto("job_leases")
      .values({ name: "other", holder: "x", expires: Date.now() + LEASE_MS, due: 0 })
      .execute();
    stopTime();
    expect(await observe(config)).toEqual([false, expect.closeTo(4500, -3)]);
    await database.close();
  });

  test.each<[string, failures: number, hasRun: boolean]>([
    ["has just started", 0, true],
    ["has just started, for the first time", 0, false],
    ["could not take the lease", 1, true],
  ])("is yes while a replica runs that %s", async (_, failures, hasRun) => {
    const config = fresh();
    const database = await migrated(config);
    stopTime();
    if (hasRun) await write(database, -MINUTE, -MINUTE);
    // Each turn is as late as it may be.
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    const runner = new JobRunner(
      { ...JOB, deadlineMs: JOB.everyMs, run: async () => undefined },
      {
        logger: SILENT,
        events: NO_EVENTS,
        lease: {
          of: failing(new JobLease(database, JOB.name, JOB.everyMs), failures),
          renewMs: 10_000,
          heldMs: LEASE_MS,
        },
      },
    );
    runner.start();
    // Its first turn fails just before somebody observes.
    if (failures > 0) await vi.advanceTimersByTimeAsync(JOB.everyMs);
    expect(await observe(config)).toEqual([true, expect.any(Number)]);
    await runner.stop();
    await database.close();
  });
});

/** A lease that cannot be taken so many times, as while the database is down. */
function failing(lease: JobLease, times: number): Lease {
  let failures = 0;
  return {
    async take() {
      if (failures++ < times) throw new Error("the database is down");
      return lease.take();
    },
    renew: () => lease.renew(),
    giveBack: (dueMs) => lease.giveBack(dueMs),
  };
}
