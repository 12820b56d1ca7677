import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { NewAuditRow } from "../../../../src/runtime/audit/tables/audit-table.ts";
import {
  EventQueue,
  type EventQueueOptions,
} from "../../../../src/runtime/audit/tables/event-queue.ts";
import { NO_EVENTS } from "../../../../src/runtime/events/runtime-events.ts";
import { until } from "../../../support/until.ts";

const row = (id: string, state: "pending" | "completed" = "completed") =>
  ({ id, state, type: "a.b" }) as NewAuditRow;

/** A queue over a database that can be down or hang. */
function queueOf(options: Partial<EventQueueOptions> = {}) {
  const database = { isDown: false, hangs: false, batches: [] as string[][], attempts: 0 };
  const outcomes: string[] = [];
  const errors: string[] = [];
  const log = (_: object, message: string) => void errors.push(message);
  const queue = new EventQueue({
    save: async (rows) => {
      database.attempts++;
      if (database.hangs) await new Promise(() => undefined);
      await sleep(1);
      if (database.isDown) throw new Error("the database is down");
      database.batches.push(rows.map(({ id, state }) => `${id} ${state}`));
    },
    explain: (error) => error as Error,
    logger: { debug() {}, info() {}, warn: log, error: log },
    events: { ...NO_EVENTS, audit: (outcome) => void outcomes.push(outcome) },
    backoffMs: { first: 1, most: 5 },
    attemptTimeoutMs: 10_000,
    ...options,
  });
  return { queue, database, outcomes, errors };
}

describe("while the database is down", () => {
  test("an intent is refused as UNAVAILABLE", async () => {
    const { queue, database, outcomes } = queueOf();
    database.isDown = true;
    await expect(queue.intent(row("a", "pending"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "the audit event cannot be stored",
    });
    expect(outcomes).toEqual(["refused"]);
    database.isDown = false;
    await queue.intent(row("b", "pending"));
    expect(database.batches).toEqual([["b pending"]]);
  });

  test("outcomes wait, callers do not, and all outcomes are stored once it is back", async () => {
    const { queue, database, outcomes, errors } = queueOf();
    database.isDown = true;
    await queue.outcome(row("a"));
    expect(queue.outcome(row("b"))).toBeUndefined();
    expect(queue.outcome(row("c"))).toBeUndefined();
    expect(queue.delayed).toBe(3);
    await until("three attempts have failed", () => database.attempts > 3);
    database.isDown = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches.flat().sort()).toEqual(["a completed", "b completed", "c completed"]);
    expect(outcomes.filter((outcome) => outcome === "delayed")).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(3);
    // Logged once, however many attempts there were.
    expect(errors).toEqual(["audit events cannot be stored"]);
  });

  test("a hanging statement is abandoned, for intents and outcomes", async () => {
    const { queue, database } = queueOf({ attemptTimeoutMs: 50 });
    database.hangs = true;
    const intent = queue.intent(row("a", "pending"));
    await expect(intent).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(queue.outcome(row("a"))).toBeUndefined();
    database.hangs = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches).toEqual([["a completed"]]);
  });

  test("callers of a hanging database share one statement and its timeout", async () => {
    let saves = 0;
    const hang = () => {
      saves++;
      return new Promise<void>(() => undefined);
    };
    const { queue } = queueOf({
      save: hang,
      attemptTimeoutMs: 100,
      backoffMs: { first: 60_000, most: 60_000 },
    });
    const intents = Array.from({ length: 2000 }, (_, index) =>
      queue.intent(row(`${index}`, "pending")),
    );
    const outcome = queue.outcome(row("late"));
    const settled = await Promise.allSettled(intents);
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    await outcome;
    expect(saves).toBe(1);
    expect(queue.delayed).toBe(1);
  });

  test("a caller behind thousands of others is refused at once", async () => {
    const { queue, database } = queueOf({ attemptTimeoutMs: 500 });
    database.hangs = true;
    const intents = Array.from({ length: 10_500 }, (_, index) =>
      queue.intent(row(`${index}`, "pending")),
    );
    const first = await Promise.race([
      intents[0]?.catch(() => "first"),
      intents.at(-1)?.catch(() => "last"),
    ]);
    expect(first).toBe("last");
    expect((await Promise.allSettled(intents)).every(({ status }) => status === "rejected")).toBe(
      true,
    );
  });

  test("the number of waiting events is limited: the oldest is dropped and reported", async () => {
    const { queue, database, outcomes, errors } = queueOf({ maxBacklog: 3 });
    database.isDown = true;
    for (const id of ["a", "b", "c", "d", "e"]) await queue.outcome(row(id));
    expect(queue.delayed).toBe(3);
    database.isDown = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches.flat()).toEqual(["c completed", "d completed", "e completed"]);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(2);
    expect(errors.filter((message) => message.includes("one was dropped"))).toHaveLength(2);
  });

  test("so is the number of waiting outcomes of handlers", async () => {
    const { queue, database, outcomes } = queueOf({ maxBacklog: 2 });
    database.isDown = true;
    for (const id of ["a", "b", "c"]) await queue.outcome({ ...row(id), code: "OK" });
    expect(queue.delayed).toBe(2);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(1);
    database.isDown = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches.flat()).toEqual(["b completed", "c completed"]);
  });

  test("waiting events are stored in batches within the limit of a statement", async () => {
    const { queue, database } = queueOf();
    database.isDown = true;
    await queue.outcome(row("0"));
    for (let index = 1; index < 300; index++) queue.outcome(row(`${index}`));
    database.isDown = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches.map(({ length }) => length)).toEqual([128, 128, 44]);
  });

  test("a flood of refusals does not displace outcomes of handlers", async () => {
    const { queue, database } = queueOf({ maxBacklog: 3 });
    database.isDown = true;
    await queue.outcome({ ...row("written"), code: "OK" });
    for (const id of ["a", "b", "c", "d"]) await queue.outcome({ ...row(id), code: "FORBIDDEN" });
    database.isDown = false;
    await until("all is stored", () => queue.delayed === 0);
    expect(database.batches.flat()).toEqual(["written completed", "c completed", "d completed"]);
  });

  test("closing gives up after one attempt, and reports what is lost", async () => {
    const { queue, database, errors } = queueOf();
    database.isDown = true;
    await queue.outcome(row("a"));
    await queue.close();
    expect(errors.at(-1)).toBe("audit events could not be stored");
  });
});

test("concurrent calls share a batch, in order", async () => {
  const { queue, database } = queueOf();
  const first = queue.intent(row("a", "pending"));
  const second = queue.outcome(row("b"));
  await Promise.all([first, second]);
  const third = queue.outcome(row("c"));
  await new Promise((resolve) => setImmediate(resolve));
  const fourth = queue.outcome(row("d"));
  await Promise.all([third, fourth]);
  expect(database.batches[0]).toEqual(["a pending", "b completed"]);
  expect(database.batches.flat()).toHaveLength(4);
});

test("an event that is twice in a batch is written with its last state", async () => {
  const { queue, database } = queueOf();
  await Promise.all([queue.intent(row("a", "pending")), queue.outcome(row("a"))]);
  expect(database.batches).toEqual([["a completed"]]);
});

test("a thousand concurrent events are stored in batches within the limit of a statement", async () => {
  const { queue, database } = queueOf();
  const rows = Array.from({ length: 1000 }, (_, index) => row(`${index}`));
  await Promise.all(rows.map((each) => queue.outcome(each)));
  expect(database.batches.flat()).toHaveLength(1000);
  expect(Math.max(...database.batches.map(({ length }) => length))).toBeLessThanOrEqual(128);
});

test("a different reason of the same outage is logged, but not each time that reasons alternate", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let reason = "no server";
  const reported: string[] = [];
  const error = (fields: object) => void reported.push((fields as { error: Error }).error.message);
  const { queue } = queueOf({
    save: () => Promise.reject(new Error(reason)),
    logger: { debug() {}, info() {}, warn() {}, error },
    backoffMs: { first: 60_000, most: 60_000 },
    logPauseMs: 200,
  });
  const attempt = (why: string) => {
    reason = why;
    return queue.intent(row("a", "pending")).catch(() => undefined);
  };
  await attempt("no server");
  await attempt("no password");
  await attempt("no server");
  expect(reported).toEqual(["no server"]);
  vi.advanceTimersByTime(250);
  await attempt("no server");
  await attempt("no password");
  await attempt("no password");
  expect(reported).toEqual(["no server", "no password"]);
});

test("the default timeout of an attempt is seconds", async () => {
  const saved: string[] = [];
  const queue = new EventQueue({
    save: async (rows) => {
      await sleep(50);
      for (const { id } of rows) saved.push(id);
    },
    explain: (error) => error as Error,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    events: NO_EVENTS,
  });
  await queue.intent(row("a", "pending"));
  expect(saved).toEqual(["a"]);
  await queue.close();
});

test("closing stores waiting events once the database is back", async () => {
  const { queue, database, errors } = queueOf({ backoffMs: { first: 60_000, most: 60_000 } });
  database.isDown = true;
  await queue.outcome(row("a"));
  queue.outcome(row("b"));
  database.isDown = false;
  await queue.close();
  expect(database.batches).toEqual([["a completed", "b completed"]]);
  expect(errors).toEqual(["audit events cannot be stored"]);
});

test("closing while the database is down counts each lost event", async () => {
  const { queue, database, outcomes, errors } = queueOf({
    backoffMs: { first: 60_000, most: 60_000 },
  });
  database.isDown = true;
  await queue.outcome(row("a"));
  queue.outcome(row("b"));
  await queue.close();
  expect(outcomes).toEqual(["delayed", "delayed", "dropped", "dropped"]);
  expect(errors).toEqual(["audit events cannot be stored", "audit events could not be stored"]);
});

test("closing stores pending events", async () => {
  const { queue, database } = queueOf();
  const stored = queue.outcome(row("a"));
  await queue.close();
  await stored;
  expect(database.batches).toEqual([["a completed"]]);
});
