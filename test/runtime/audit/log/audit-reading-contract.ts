import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Database } from "../../../../src/database/database.ts";
import type { AuditEvent } from "../../../../src/runtime/audit/event/audit-event.ts";
import { type AuditLog, StoredAuditLog } from "../../../../src/runtime/audit/log/audit-log.ts";
import { auditLines } from "../../../../src/runtime/audit/log/export-events.ts";
import type {
  AuditChange,
  AuditFollowOptions,
} from "../../../../src/runtime/audit/log/follow-events.ts";
import type { AuditTables } from "../../../../src/runtime/audit/tables/audit-table.ts";
import { callOf, methodOf, principalOf } from "../../authorization/calls.ts";
import { auditOf } from "../audits.ts";

const write = methodOf(
  { audit: { event: "doc.write", riskLevel: "HIGH" } },
  { rpc: "a.v1.S/Write", isWrite: true },
);
const POLL = 5;

/** Tests for reading the audit of a running service in any database. */
export function auditReadingContract(
  fresh: () => Promise<{ first: Database<unknown>; again: () => Promise<Database<unknown>> }>,
): void {
  const opened = async () => {
    const { first, again } = await fresh();
    const { audit } = await auditOf(first, [write]);
    const reader = await again();
    const tables = reader.as<AuditTables>();
    const logAt = (now: () => number = Date.now) => new StoredAuditLog(tables, now, POLL);
    return { audit, again, logAt, log: logAt(), tables };
  };
  const complete = (audit: Awaited<ReturnType<typeof opened>>["audit"], requestId: string) =>
    audit.trail.complete(callOf(write, { principal: principalOf(), requestId }), undefined);

  /** A number of next changes, and the position after them. */
  async function take(log: AuditLog, count: number, options: AuditFollowOptions, filter = {}) {
    const changes: AuditChange[] = [];
    const end = new AbortController();
    for await (const change of log.follow(filter, { ...options, signal: end.signal })) {
      changes.push(change);
      if (changes.length === count) end.abort();
    }
    return {
      texts: changes.map(({ event }) => textOf(event)),
      after: changes.at(-1)?.position ?? options.after ?? "",
    };
  }
  const textOf = ({ data }: AuditEvent) => `${data.request_id} ${data.state}`;

  test("a follower gets each event when it is stored and when it is completed, and continues after a position", async () => {
    const { audit, log } = await opened();
    await complete(audit, "before");
    const begin = await log.position();
    const calls = ["a", "b"].map((requestId) => callOf(write, { requestId }));
    const [a, b] = calls as [(typeof calls)[0], (typeof calls)[0]];
    await audit.trail.begin(a);
    const first = await take(log, 1, { after: begin });
    expect(first.texts).toEqual(["a pending"]);
    await audit.trail.begin(b);
    await audit.trail.complete(b, undefined);
    // It began first, so its time is earlier than that of the completed one.
    await audit.trail.complete(a, undefined);
    const second = await take(log, 2, { after: first.after });
    expect(second.texts).toEqual(["b completed", "a completed"]);
    expect((await take(log, 3, { from: "start" })).texts).toEqual([
      "before completed",
      "b completed",
      "a completed",
    ]);
    expect((await take(log, 1, { from: "start" }, { requestId: "a" })).texts).toEqual([
      "a completed",
    ]);
    await audit.close();
  });

  test("a follower that stops among events that were stored together gets the others without a further change", async () => {
    const { audit, logAt } = await opened();
    const log = logAt();
    let after = await log.position();
    const ids = Array.from({ length: 5 }, (_, index) => `t${index}`);
    // In one turn of the event loop, so they are one statement and one change.
    await Promise.all(ids.map((id) => complete(audit, id)));
    // A closed log does not wait: a follower ends after the stored events.
    log.close();
    const seen: string[] = [];
    for (const _ of ids) {
      const next = await take(log, 1, { after });
      seen.push(...next.texts);
      after = next.after;
    }
    expect(seen.sort()).toEqual(ids.map((id) => `${id} completed`));
    await audit.close();
  });

  test("followers wait for new events, and several share one query", async () => {
    const { audit, log } = await opened();
    const ends = Array.from({ length: 5 }, () => take(log, 2, {}));
    // Each is at the end once its first query is answered.
    await log.position();
    await turn();
    const filtered = take(log, 1, { after: await log.position() }, { requestId: "late" });
    await complete(audit, "early");
    await complete(audit, "late");
    expect((await filtered).texts).toEqual(["late completed"]);
    log.close();
    for (const { texts } of await Promise.all(ends)) {
      expect(["early completed", "late completed"]).toEqual(expect.arrayContaining(texts));
    }
    await audit.close();
  });

  test("a write without an outcome is reported as pending, then once as unknown, then with its outcome", async () => {
    const { audit, logAt } = await opened();
    let now = Date.now();
    const log = logAt(() => now);
    const position = await log.position();
    const calls = ["a", "b", "c"].map((requestId) => {
      const call = callOf(write, { requestId });
      call.deadline = now + 60_000;
      return call;
    });
    for (const call of calls) await audit.trail.begin(call);
    const pending = await take(log, 2, { after: position });
    expect(pending.texts).toHaveLength(2);
    now += 70_000;
    // The third is new and unknown at the same time.
    const rest = await take(log, 3, { after: pending.after });
    const all = [...pending.texts, ...rest.texts].sort();
    const expected = ["a", "b", "c"].map((id) => `${id} unknown`);
    expect(all.filter((text) => text.endsWith("unknown"))).toEqual(expected);
    expect(new Set(all).size).toBe(all.length);
    const [first] = calls;
    if (first !== undefined) await audit.trail.complete(first, undefined);
    expect((await take(log, 1, { after: rest.after })).texts).toEqual(["a completed"]);
    expect((await take(log, 2, { from: "start" }, { state: "unknown" })).texts.sort()).toEqual([
      "b unknown",
      "c unknown",
    ]);
    await audit.close();
  });

  test("a restarted follower misses and repeats nothing, in whatever order calls of several replicas end", async () => {
    const { audit, again, logAt } = await opened();
    const others = await Promise.all([again(), again()]);
    const replicas = [audit];
    for (const other of others) replicas.push((await auditOf(other, [write])).audit);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            replica: fc.nat({ max: 2 }),
            hasIntent: fc.boolean(),
            /** The turns of the event loop after which it begins and ends. */
            begin: fc.nat({ max: 20 }),
            end: fc.nat({ max: 20 }),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 10 }),
        async (calls, portions) => {
          run++;
          const log = logAt();
          let after = await log.position();
          const work = Promise.all(
            calls.map(async ({ replica, hasIntent, begin, end }, index) => {
              const trail = replicas[replica]?.trail ?? audit.trail;
              const call = callOf(write, { requestId: `${run}-${index}` });
              for (let count = 0; count < begin; count++) await turn();
              if (hasIntent) await trail.begin(call);
              for (let count = 0; count < end; count++) await turn();
              await trail.complete(call, undefined);
            }),
          );
          // A closed log does not wait: events that it has not returned by then are missed.
          let isOver = false;
          const over = () => {
            isOver = true;
            log.close();
          };
          work.then(over, over);
          const seen: string[] = [];
          for (let portion = 0, isLast = false; !isLast; portion++) {
            const beganAfter = isOver;
            const next = await take(log, portions[portion % portions.length] ?? 1, { after });
            isLast = beganAfter && next.texts.length === 0;
            seen.push(...next.texts);
            after = next.after;
          }
          await work;
          expect(new Set(seen).size).toBe(seen.length);
          const ends = seen.filter((text) => text.endsWith(" completed")).sort();
          expect(ends).toEqual(calls.map((_, index) => `${run}-${index} completed`).sort());
        },
      ),
      { numRuns: 15 },
    );
    for (const replica of replicas) await replica.close();
  });

  test("all pages are exported, oldest or newest first, while the service runs", async () => {
    const { audit, log } = await opened();
    const ids = Array.from({ length: 1203 }, (_, index) => `r${index}`);
    await Promise.all(ids.map((id) => complete(audit, id)));
    for (const order of ["oldest", "newest"] as const) {
      const found: AuditEvent[] = [];
      for await (const event of log.export({}, { order })) {
        // New events are not part of this export, which would not end otherwise.
        if (found.length % 100 === 0) await complete(audit, `meanwhile-${order}`);
        found.push(event);
      }
      const keys = found.map(({ time, id }) => `${time} ${id}`);
      const sorted = [...keys].sort();
      expect(keys).toEqual(order === "oldest" ? sorted : sorted.reverse());
      const requests = new Set(found.map(({ data }) => data.request_id));
      for (const id of ids) expect(requests.has(id)).toBe(true);
    }
    const end = new AbortController();
    let count = 0;
    for await (const line of auditLines(log.export({ requestId: "r7" }, { signal: end.signal }))) {
      expect(line.endsWith("}\n")).toBe(true);
      expect(JSON.parse(line).data.request_id).toBe("r7");
      count++;
      end.abort();
    }
    expect(count).toBe(1);
    await audit.close();
  });

  test("a position is refused after a restore that has more changes, but not after old events were removed", async () => {
    const { audit, logAt, tables } = await opened();
    const log = logAt();
    await complete(audit, "old");
    const begin = await log.position();
    await complete(audit, "lost");
    log.close();
    const given = (await take(log, 1, { after: begin })).after;
    const atEnd = await log.position();
    const remove = (id: string) =>
      tables.kysely.deleteFrom("audit_events").where("request_id", "=", id).execute();
    const follow = (after: string) => take(logClosed(), 9, { after });
    const logClosed = () => {
      const closed = logAt();
      closed.close();
      return closed;
    };
    // As retention does, from the oldest on.
    await remove("old");
    await complete(audit, "next");
    for (const after of [given, atEnd])
      expect((await follow(after)).texts).toEqual(["next completed"]);
    await remove("lost");
    for (const after of [given, atEnd])
      expect((await follow(after)).texts).toEqual(["next completed"]);
    // An earlier state: the events that it never had are missing in the middle.
    await complete(audit, "late");
    const { after } = await take(logClosed(), 2, { after: given });
    await remove("late");
    for (const id of ["x", "y", "z"]) await complete(audit, id);
    await expect(follow(after)).rejects.toThrow(/was restored/);
    expect((await follow(given)).texts).toHaveLength(4);
    await audit.close();
  });

  test("a position is refused if its last event has an earlier change, or an event before it is a day later", async () => {
    const { audit, logAt, tables } = await opened();
    const begin = await logAt().position();
    await complete(audit, "last");
    const { after } = await take(logAt(), 1, { after: begin });
    // There are more changes than the position has.
    for (const id of ["x", "y", "z"]) await complete(audit, id);
    const follow = () => take(logAt(), 3, { after });
    const change = (id: string, to: object) =>
      tables.kysely.updateTable("audit_events").set(to).where("request_id", "=", id).execute();
    expect((await follow()).texts).toHaveLength(3);
    // As in a backup that was made before its completion.
    await change("last", { change: 0 });
    await expect(follow()).rejects.toThrow(/was restored/);
    // As in another database, which counts from the beginning.
    await tables.kysely.deleteFrom("audit_events").where("request_id", "=", "last").execute();
    expect((await follow()).texts).toHaveLength(3);
    await change("x", { change: 0, time: Date.now() + 25 * 3_600_000 });
    await expect(follow()).rejects.toThrow(/was restored/);
    await audit.close();
  });

  test("invalid positions and options are refused", async () => {
    const { audit, log, tables } = await opened();
    await complete(audit, "a");
    const position = await log.position();
    const altered = `${position.slice(0, -2)}xx`;
    const wrong: [AuditFollowOptions, RegExp][] = [
      [{ after: "" }, /position is malformed/],
      [{ after: altered }, /position is malformed/],
      [{ after: "💥" }, /position is malformed/],
      [{ from: "middle" as "end" }, /must be start or end/],
    ];
    for (const [options, message] of wrong) {
      await expect(log.follow({}, options).next()).rejects.toThrow(message);
    }
    await expect(log.follow({ from: -1 }).next()).rejects.toThrow("from must be a time");
    await expect(log.export({}, { order: "x" as "oldest" }).next()).rejects.toThrow(
      "order must be",
    );
    // An earlier state of the database was restored.
    await tables.kysely.deleteFrom("audit_marks").execute();
    if (tables.kind === "sqlite") {
      await tables.kysely.deleteFrom("audit_events").execute();
      await expect(log.follow({}, { after: position }).next()).rejects.toThrow(/was restored/);
    }
    await audit.close();
  });
}
