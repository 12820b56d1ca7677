/** Failures that anybody can cause, in the audit. */
import type { AuditRecord } from "svc-access/runtime";
import { testContext } from "svc-access/testing";
import { describe, expect, test } from "vitest";
import { pending } from "../../../../../../test/support/pending.ts";
import {
  type FailedAttempt,
  FailedAttempts,
} from "../../../../src/people/accounts/throttle/failed-attempts.ts";

const FAILED: FailedAttempt = { event: "login.failed", details: { reason: "unknown" } };
const MINUTE = 60_000;

function attempts(limits = { perAddress: 2, all: 6 }) {
  const clock = { now: 1000 };
  const ofMinutes: AuditRecord[] = [];
  /** The events that the recorder refuses. */
  const refused = new Set<string>();
  /** How many events the recorder has got, and what it waits for. */
  const store = { begun: 0, answer: Promise.resolve() };
  const record = async (event: AuditRecord) => {
    store.begun++;
    await store.answer;
    if (refused.has(event.event)) throw new Error("the store is away");
    ofMinutes.push(event);
  };
  const logged: object[] = [];
  const log = { error: (fields: object) => void logged.push(fields) };
  const now = () => clock.now;
  const failed = new FailedAttempts({ recorder: { record }, log, limits, now });
  const ofCalls: AuditRecord[] = [];
  const fail = async (clientAddress: string, attempt = FAILED) => {
    const context = testContext({ clientAddress });
    await failed.record(context, attempt);
    ofCalls.push(...context.auditRecords);
    return context.auditRecords.length;
  };
  return { clock, failed, fail, ofCalls, ofMinutes, refused, store, logged };
}

const event = (more: object = {}, details: object = {}) => ({
  event: "login.failed",
  riskLevel: "MEDIUM",
  ...more,
  details: { reason: "unknown", ...details },
});

test("the first failures of an address are events, the others one event of the minute", async () => {
  const { clock, failed, fail, ofCalls, ofMinutes } = attempts();
  for (const expected of [1, 1, 0, 0, 0]) expect(await fail("192.0.2.1")).toBe(expected);
  expect(ofCalls).toEqual([event(), event()]);
  await failed.closeMinute();
  expect(ofMinutes).toEqual([]);
  clock.now += MINUTE;
  await failed.job().run(new AbortController().signal);
  await failed.closeMinute();
  expect(ofMinutes).toEqual([event({}, { repeats: 3 })]);
  expect(await fail("192.0.2.1")).toBe(1);
});

test("the next failure closes a minute, too, and does not wait for its events", async () => {
  const { clock, failed, fail, ofMinutes, store } = attempts({ perAddress: 1, all: 6 });
  for (const expected of [1, 0]) expect(await fail("192.0.2.1")).toBe(expected);
  clock.now += MINUTE;
  const answer = pending();
  store.answer = answer.promise;
  expect(await fail("192.0.2.1")).toBe(1);
  expect(ofMinutes).toEqual([]);
  const ended: string[] = [];
  const waiting = [
    failed
      .job()
      .run(new AbortController().signal)
      ?.then(() => void ended.push("job")),
    failed.close().then(() => void ended.push("close")),
  ];
  await new Promise(setImmediate);
  expect(ended).toEqual([]);
  answer.resolve();
  await Promise.all(waiting);
  expect(ofMinutes).toEqual([event({}, { repeats: 1 })]);
});

test("what was counted when the service stops is recorded", async () => {
  const { failed, fail, ofMinutes } = attempts({ perAddress: 1, all: 6 });
  for (const expected of [1, 0, 0]) expect(await fail("192.0.2.1")).toBe(expected);
  await failed.close();
  expect(ofMinutes).toEqual([event({}, { repeats: 2 })]);
  await failed.close();
  expect(ofMinutes).toHaveLength(1);
});

test("the events of a minute are recorded together, 128 at once", async () => {
  const { failed, fail, ofMinutes, store } = attempts({ perAddress: 1, all: 600 });
  const answer = pending();
  store.answer = answer.promise;
  for (let id = 0; id < 1800; id++) {
    await fail("192.0.2.1", { ...FAILED, details: { client: `${id}` } });
  }
  const closed = failed.close();
  await new Promise(setImmediate);
  expect(store.begun).toBe(128);
  answer.resolve();
  await closed;
  expect(ofMinutes).toHaveLength(1200);
});

test("an event of the minute that cannot be recorded is logged, and the others are recorded", async () => {
  const { clock, failed, fail, ofMinutes, refused, logged } = attempts({
    perAddress: 1,
    all: 6,
  });
  const slowed: FailedAttempt = { ...FAILED, event: "login.slowed" };
  for (const attempt of [FAILED, slowed]) {
    for (const expected of [1, 0]) expect(await fail("192.0.2.1", attempt)).toBe(expected);
  }
  refused.add(FAILED.event);
  clock.now += MINUTE;
  expect(await fail("192.0.2.1")).toBe(1);
  await failed.closeMinute();
  expect(ofMinutes).toEqual([event({ event: "login.slowed" }, { repeats: 1 })]);
  expect(logged).toEqual([{ error: expect.any(Error), event: "login.failed" }]);
});

describe("one flood does not hide", () => {
  test.each<[string, string, FailedAttempt]>([
    ["the failures of another address", "192.0.2.2", FAILED],
    ["those of another IPv6 network", "2001:db8:0:2::1", FAILED],
    ["another reason", "192.0.2.1", { ...FAILED, details: { reason: "denied" } }],
    ["another event", "192.0.2.1", { ...FAILED, event: "login.slowed" }],
  ])("%s", async (_, address, attempt) => {
    const { fail } = attempts();
    for (let count = 0; count < 10; count++) {
      await fail("192.0.2.1");
    }
    expect(await fail(address, attempt)).toBe(1);
  });
});

test("who has many addresses makes no more events than there is room for", async () => {
  const { clock, failed, fail, ofCalls, ofMinutes } = attempts();
  for (let count = 0; count < 50; count++) await fail(`192.0.2.${count}`);
  for (let count = 0; count < 50; count++) await fail(`2001:db8::${count}`);
  expect(ofCalls).toHaveLength(6);
  clock.now += MINUTE;
  await failed.closeMinute();
  expect(ofMinutes).toEqual([event({}, { repeats: 94 })]);
});

test("a flood from many addresses takes no room of another event", async () => {
  const { clock, failed, fail, ofMinutes } = attempts({ perAddress: 1, all: 2 });
  const user: FailedAttempt = { event: "second_factor.failed", details: {}, accountId: "a" };
  for (let count = 0; count < 50; count++) await fail(`192.0.2.${count}`);
  for (const id of ["b", "c", "d", "e"]) {
    await fail("192.0.2.1", { ...user, event: "refresh_token.reused", accountId: id });
  }
  expect(await fail("192.0.2.1", { ...FAILED, event: "bootstrap.failed" })).toBe(1);
  for (const expected of [1, 0]) expect(await fail("192.0.2.1", user)).toBe(expected);
  clock.now += MINUTE;
  await failed.closeMinute();
  expect(ofMinutes).toContainEqual({
    event: "second_factor.failed",
    riskLevel: "MEDIUM",
    resource: "user:a",
    details: { repeats: 1 },
  });
});

test("an event names its object, and that of a minute none", async () => {
  const { clock, failed, fail, ofCalls, ofMinutes } = attempts({ perAddress: 1, all: 6 });
  const named: FailedAttempt = { ...FAILED, resource: "zone:acme" };
  await fail("192.0.2.1", named);
  await fail("192.0.2.1", named);
  clock.now += MINUTE;
  await failed.closeMinute();
  expect(ofCalls).toEqual([event({ resource: "zone:acme" })]);
  expect(ofMinutes).toEqual([event({}, { repeats: 1 })]);
});

test("of more details than there is room for, there is one number", async () => {
  const { clock, failed, fail, ofMinutes } = attempts({ perAddress: 1, all: 2 });
  for (let count = 0; count < 10; count++) {
    await fail("192.0.2.1", { ...FAILED, details: { client: `${count}` } });
  }
  clock.now += MINUTE;
  await failed.closeMinute();
  const { event, riskLevel } = { event: "login.failed", riskLevel: "MEDIUM" };
  expect(ofMinutes).toEqual([
    ...["2", "3", "4", "5"].map((client) => ({
      event,
      riskLevel,
      details: { client, repeats: 1 },
    })),
    { event, riskLevel, details: { repeats: 4 } },
  ]);
});

describe("failures that name a user", () => {
  const FACTOR = { event: "second_factor.failed", details: { method: "code" } } as const;
  const of = (accountId: string): FailedAttempt => ({ ...FACTOR, accountId });
  const recorded = (accountId: string, more: object = {}) => ({
    event: FACTOR.event,
    riskLevel: "MEDIUM",
    resource: `user:${accountId}`,
    details: { method: "code", ...more },
  });

  test("are counted by user and address, and each event keeps the user", async () => {
    const { clock, failed, fail, ofCalls, ofMinutes } = attempts({ perAddress: 1, all: 6 });
    for (const expected of [1, 0, 0]) expect(await fail("192.0.2.1", of("a"))).toBe(expected);
    expect(await fail("192.0.2.1", of("b"))).toBe(1);
    expect(await fail("192.0.2.2", of("a"))).toBe(1);
    expect(await fail("192.0.2.2", of("b"))).toBe(1);
    expect(await fail("192.0.2.2", of("b"))).toBe(0);
    expect(ofCalls).toEqual(["a", "b", "a", "b"].map((id) => recorded(id)));
    clock.now += MINUTE;
    await failed.closeMinute();
    expect(ofMinutes).toEqual([recorded("a", { repeats: 2 }), recorded("b", { repeats: 1 })]);
  });

  test("keep their risk", async () => {
    const { fail, ofCalls } = attempts();
    await fail("192.0.2.1", { ...of("a"), riskLevel: "HIGH" });
    expect(ofCalls).toEqual([{ ...recorded("a"), riskLevel: "HIGH" }]);
  });

  test("are not hidden by a flood of strangers", async () => {
    const { fail } = attempts();
    for (let count = 0; count < 50; count++) await fail(`192.0.2.${count}`);
    expect(await fail("192.0.2.1", of("a"))).toBe(1);
  });

  test("of more users than there is room for are counted without them", async () => {
    const { clock, failed, fail, ofMinutes } = attempts({ perAddress: 1, all: 2 });
    for (const id of ["a", "b", "c", "d", "e", "f", "c"]) await fail("192.0.2.1", of(id));
    clock.now += MINUTE;
    await failed.closeMinute();
    expect(ofMinutes).toEqual([
      recorded("c", { repeats: 2 }),
      recorded("d", { repeats: 1 }),
      { event: FACTOR.event, riskLevel: "MEDIUM", details: { method: "code", repeats: 2 } },
    ]);
  });
});
