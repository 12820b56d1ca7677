import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import type { Database } from "../../../../src/database/database.ts";
import { openDatabase } from "../../../../src/database/service/open-database.ts";
import { openAudit } from "../../../../src/runtime/audit/open-audit.ts";
import { Retention, removeBefore } from "../../../../src/runtime/audit/retention/retention.ts";
import type { AuditTables } from "../../../../src/runtime/audit/tables/audit-table.ts";
import { redactText } from "../../../../src/runtime/logging/redaction/redact-text.ts";
import { SILENT, settingsOf } from "../../../database/settings.ts";
import { runs } from "../../../support/effort.ts";
import { callOf, methodOf } from "../../authorization/calls.ts";
import { logOf } from "../audits.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LOOK = 5 * MINUTE;
const START = Date.UTC(2026, 0, 1);

const folder = mkdtempSync(join(tmpdir(), "svc-access-retention-"));
let count = 0;
const opened: Pick<Database<unknown>, "close">[] = [];
const read = methodOf(
  { audit: { event: "doc.read", riskLevel: "LOW" } },
  { rpc: "a.v1.S/Read", isWrite: false },
);
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  for (const database of opened) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function fresh() {
  const file = join(folder, `${++count}.db`);
  const database = await openDatabase<AuditTables>(settingsOf({ file }), { logger: SILENT });
  opened.push(database);
  await sql`pragma synchronous = off`.execute(database.kysely);
  return database;
}

const auditOptions = (database: Database<AuditTables>) => ({
  ...logOf([]),
  methods: [read],
  database: database.as<unknown>(),
  service: "hub",
});

/** A service with a clock that may differ from the true time. */
class World {
  readonly maxAge: number;
  readonly database: Database<AuditTables>;
  readonly warnings: string[] = [];
  ahead = 0;
  time = START;
  /** The difference of the clock from the true time. */
  wrong = 0;
  #monotonic = 0;
  #retention: Retention | undefined;
  readonly #store: (id: string) => Promise<void>;
  /** The true time at which each event was stored. */
  readonly #stored = new Map<string, number>();

  private constructor(
    maxAge: number,
    database: Database<AuditTables>,
    store: (id: string) => Promise<void>,
  ) {
    this.maxAge = maxAge;
    this.database = database;
    this.#store = store;
  }

  static async create(maxAge: number): Promise<World> {
    const database = await fresh();
    const audit = await openAudit(auditOptions(database));
    return new World(maxAge, database, async (requestId) => {
      await audit.trail.complete(callOf(read, { requestId }), undefined);
    });
  }

  /** Ends the process, and turns its machine off for a time. */
  off(duration: number): void {
    this.#retention = undefined;
    this.#monotonic = 0;
    this.time += duration;
  }

  /** Runs retention every 5 minutes for a time. */
  async run(duration: number): Promise<void> {
    this.#retention ??= new Retention(
      this.maxAge,
      this.database,
      { ...SILENT, warn: (_, message) => void this.warnings.push(message) },
      {
        clocks: { now: () => this.time + this.wrong, monotonic: () => this.#monotonic },
        onAhead: (ms) => {
          this.ahead = ms;
        },
      },
    );
    await this.#retention.run();
    for (let passed = 0; passed < duration; passed += LOOK) {
      this.time += LOOK;
      this.#monotonic += LOOK;
      await this.#retention.run();
    }
  }

  async store(id: string): Promise<void> {
    await this.#store(id);
    // With the time of this clock.
    await this.database.kysely
      .updateTable("audit_events")
      .set({ time: this.time + this.wrong })
      .where("request_id", "=", id)
      .execute();
    this.#stored.set(id, this.time);
  }

  async kept(): Promise<string[]> {
    const rows = await this.database.kysely
      .selectFrom("audit_events")
      .select("request_id")
      .execute();
    return rows.map((row) => row.request_id).sort();
  }

  /** The events that were removed before their retention ended. */
  async removedEarly(): Promise<string[]> {
    const kept = new Set(await this.kept());
    return [...this.#stored]
      .filter(([id, time]) => this.time - time < this.maxAge && !kept.has(id))
      .map(([id, time]) => `${id} after ${(this.time - time) / HOUR} hours`);
  }
}

test("one start with the clock 40 days ahead removes no audit event", async () => {
  const database = await fresh();
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  for (const [at, hours] of [
    [0, 0],
    [40, 1],
    [0, 2],
  ] as const) {
    vi.setSystemTime(START + at * DAY + hours * HOUR);
    const audit = await openAudit({ ...auditOptions(database), maxAgeMs: 30 * DAY });
    if (at === 0) await audit.trail.complete(callOf(read), undefined);
    await audit.close();
  }
  const { count } = await database.kysely
    .selectFrom("audit_events")
    .select((eb) => eb.fn.countAll().as("count"))
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(2);
  // An explicit request of the operator is carried out.
  expect(await removeBefore(database, START + DAY)).toBe(2);
});

describe("retention", () => {
  test("removes each event when its retention ends, and not earlier", async () => {
    const world = await World.create(2 * DAY);
    await world.run(25 * HOUR);
    await world.store("first");
    await world.run(30 * HOUR);
    await world.store("second");
    await world.run(17 * HOUR);
    expect(await world.kept()).toEqual(["first", "second"]);
    await world.run(4 * HOUR);
    expect(await world.kept()).toEqual(["second"]);
    await world.run(30 * HOUR);
    expect(await world.kept()).toEqual([]);
    expect(world.warnings).toEqual([]);
  });

  test("a service that was off for 40 days removes events after a day of running, and logs what it waits for", async () => {
    const world = await World.create(30 * DAY);
    await world.store("old");
    await world.run(30 * HOUR);
    world.off(40 * DAY);
    await world.run(0);
    await world.store("new");
    expect(world.warnings).toEqual([expect.stringMatching(/40 days ahead.*24 hours.*NTP/)]);
    expect(world.ahead).toBe(40 * DAY);
    await world.run(23 * HOUR);
    expect(await world.kept()).toEqual(["new", "old"]);
    await world.run(3 * HOUR);
    expect(await world.kept()).toEqual(["new"]);
    expect(world.ahead).toBe(0);
    expect(await world.removedEarly()).toEqual([]);
  });

  test("warnings about the clock have whole days, confirm a correction, and are logged completely", async () => {
    const world = await World.create(30 * DAY);
    await world.run(30 * HOUR);
    world.wrong = 40 * DAY - MINUTE;
    await world.run(HOUR);
    world.wrong = 0;
    await world.run(HOUR);
    expect(world.warnings).toEqual([
      expect.stringMatching(/is 40 days ahead .*correct it \(NTP\)/),
      expect.stringMatching(
        /went back by 40 days\. If it was ahead and has been corrected, no action/,
      ),
    ]);
    for (const warning of world.warnings) expect(redactText(warning)).toBe(warning);
  });

  test("a service that restarts every few minutes removes events in time", async () => {
    const world = await World.create(2 * DAY);
    await world.store("old");
    for (let start = 0; start < 360; start++) {
      await world.run(10 * MINUTE);
      world.off(2 * MINUTE);
    }
    await world.store("new");
    expect(await world.kept()).toEqual(["new"]);
    expect(world.warnings).toEqual([]);
  });

  test("a service that is off each night removes events in time", async () => {
    const world = await World.create(5 * DAY);
    for (let day = 0; day < 14; day++) {
      await world.store(`day ${10 + day}`);
      await world.run(8 * HOUR);
      world.off(16 * HOUR);
    }
    const kept = await world.kept();
    expect(kept.length).toBeLessThanOrEqual(10);
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(await world.removedEarly()).toEqual([]);
  });

  test("a device whose clock starts in 1970 loses nothing when the clock is set", async () => {
    const world = await World.create(2 * DAY);
    world.wrong = -START;
    await world.run(HOUR);
    await world.store("of 1970");
    world.wrong = 0;
    await world.run(40 * HOUR);
    expect(await world.kept()).toEqual(["of 1970"]);
    await world.run(60 * HOUR);
    expect(await world.kept()).toEqual([]);
  });

  test("a machine whose clock stood still while it was off loses nothing of its first hours", async () => {
    const world = await World.create(2 * DAY);
    await world.run(26 * HOUR);
    world.off(20 * DAY);
    world.wrong = -20 * DAY;
    await world.run(HOUR);
    await world.store("first");
    await world.run(9 * HOUR);
    world.wrong = 0;
    await world.run(36 * HOUR);
    expect(await world.kept()).toEqual(["first"]);
    expect(await world.removedEarly()).toEqual([]);
    await world.run(4 * HOUR);
    expect(await world.kept()).toEqual([]);
  });

  test("events stored with a clock far behind or ahead are kept as long as others", async () => {
    const world = await World.create(2 * DAY);
    await world.run(30 * HOUR);
    for (const wrong of [-400 * DAY, 400 * DAY]) {
      world.wrong = wrong;
      await world.run(3 * HOUR);
      await world.store(`${wrong / DAY} days`);
      await world.run(3 * HOUR);
      world.wrong = 0;
      await world.run(HOUR);
    }
    await world.run(30 * HOUR);
    expect(await world.kept()).toEqual(["-400 days", "400 days"]);
    // After a day of running, the time at which they were stored is certain.
    await world.run(46 * HOUR);
    expect(await world.kept()).toEqual([]);
  });

  test("the running times of replicas are not added up", async () => {
    const world = await World.create(2 * DAY);
    await world.run(25 * HOUR);
    await world.store("first");
    const clocks = { now: () => world.time, monotonic: () => world.time };
    const replicas = Array.from({ length: 4 }, () => {
      return new Retention(world.maxAge, world.database, SILENT, { clocks });
    });
    for (let hour = 0; hour < 46; hour++) {
      for (const replica of replicas) await replica.run();
      await world.run(HOUR);
    }
    expect(await world.kept()).toEqual(["first"]);
    await world.run(4 * HOUR);
    expect(await world.kept()).toEqual([]);
    expect(world.warnings).toEqual([]);
  });

  test("nothing is removed early, however the clock jumps, unless it is wrong for a whole day of running [AUDIT-7]", async () => {
    const error = fc.oneof(
      fc.integer({ min: -500, max: 500 }).map((days) => days * DAY),
      fc.integer({ min: -90, max: 90 }).map((minutes) => minutes * MINUTE),
    );
    const stretch = fc.record({
      wrong: error,
      /** The errors of the clock, and the duration of each. */
      steps: fc.array(
        fc.record({ by: error, looks: fc.integer({ min: 0, max: 60 }), off: off() }),
        { maxLength: 4 },
      ),
      right: fc.integer({ min: 0, max: 200 }),
      off: off(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(stretch, { minLength: 1, maxLength: 5 }),
        async (days, stretches) => {
          const world = await World.create(days * DAY);
          let events = 0;
          const store = () => world.store(`e${events++}`);
          await store();
          for (const { wrong, steps, right, off } of stretches) {
            world.wrong = wrong;
            for (const step of steps) {
              await world.run(step.looks * LOOK);
              await store();
              expect(await world.removedEarly()).toEqual([]);
              if (step.off > 0) world.off(step.off);
              world.wrong += step.by;
            }
            // Less than 24 hours in total, so that it is right for at least a moment.
            world.wrong = 0;
            await world.run(right * LOOK);
            await store();
            expect(await world.removedEarly()).toEqual([]);
            if (off > 0) world.off(off);
          }
          // Removal continues: old events are removed after the clock was right for long enough.
          world.off(days * DAY + HOUR);
          await world.run(53 * HOUR);
          expect(await world.removedEarly()).toEqual([]);
        },
      ),
      // A failure is reported with its seed, instead of a timeout while it is reduced.
      { numRuns: runs(12, 2), interruptAfterTimeLimit: 90_000 },
    );
  });
});

function off() {
  return fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 60 * 24 }).map((hours) => hours * HOUR),
  );
}
