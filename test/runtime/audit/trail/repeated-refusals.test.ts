/** Callers without any permission cannot fill the audit store, and each of their attempts is counted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AccessPolicy } from "../../../../src/api/format.ts";
import { openDatabase } from "../../../../src/database/service/open-database.ts";
import type { AuditEvent } from "../../../../src/runtime/audit/event/audit-event.ts";
import type { AuditLog } from "../../../../src/runtime/audit/log/audit-log.ts";
import type { ServiceAudit } from "../../../../src/runtime/audit/open-audit.ts";
import { DistinctCount } from "../../../../src/runtime/audit/trail/refusal-counter.ts";
import { MAX_EVENT_BYTES } from "../../../../src/runtime/audit/trail/sized-event.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { SILENT, settingsOf } from "../../../database/settings.ts";
import { callOf, methodOf, principalOf } from "../../authorization/calls.ts";
import { boundMethod, newCall } from "../../support/call.ts";
import { openChain } from "../../support/open-chain.ts";
import { auditOf } from "../audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
let audit: ServiceAudit;
let log: AuditLog;
let close: () => Promise<void>;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  const database = await openDatabase<unknown>(
    settingsOf({ file: join(folder, `${++files}.db`) }),
    { logger: SILENT },
  );
  ({ audit } = await auditOf(database, []));
  log = audit.log as AuditLog;
  let isClosed = false;
  close = async () => {
    if (!isClosed) await audit.close();
    isClosed = true;
  };
  afterClose = () => database.close();
});
let afterClose: () => Promise<void>;
afterEach(async () => {
  vi.useRealTimers();
  await close();
  await afterClose();
});

const policyOf = (more: Partial<AccessPolicy> = {}): Partial<AccessPolicy> => ({
  exposure: "AUTHORIZED",
  authz: {
    action: "edit",
    audience: "user",
    resource: { type: "doc", id: "*" },
    mode: "CHECK_ONLY",
  },
  audit: { event: "doc.write", riskLevel: "HIGH" },
  ...more,
});

interface Denied {
  /** Empty for an unidentified caller. */
  readonly user?: string;
  readonly type?: string;
  readonly rpc?: string;
  readonly resource?: string;
  readonly address?: string;
  readonly policy?: Partial<AccessPolicy>;
  readonly code?:
    | "FORBIDDEN"
    | "INVALID_ARGUMENT"
    | "CANCELLED"
    | "DEADLINE_EXCEEDED"
    | "UNAVAILABLE"
    | "INTERNAL";
}

/** Makes a call that is refused before its handler. */
async function refuse(of: Denied = {}) {
  const principal =
    of.user === ""
      ? undefined
      : principalOf({ subjectId: of.user ?? "eve", subjectType: of.type ?? "user" });
  const call = callOf(methodOf(of.policy ?? policyOf(), { rpc: of.rpc ?? "a.v1.S/Write" }), {
    ...(principal === undefined ? {} : { principal }),
    clientAddress: of.address ?? "192.0.2.7",
  });
  call.resource = of.resource ?? "doc:d1";
  if ((of.code ?? "FORBIDDEN") === "FORBIDDEN") call.decision = "denied";
  await audit.trail.complete(call, new ServiceError(of.code ?? "FORBIDDEN"));
}

async function stored(): Promise<readonly AuditEvent[]> {
  // A series that has only begun is stored with the next event.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  const { events } = await log.list({}, { pageSize: 500 });
  // Within one millisecond the order is random.
  const key = ({ time, data }: AuditEvent) => `${time} ${data.repeats === undefined ? 0 : 1}`;
  return [...events].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}

const counts = async () =>
  (await stored()).map(({ data }) => `${data.state} ${data.repeats?.count ?? "one"}`);

test("ten thousand denials of one caller are two events [AUDIT-3]", async () => {
  for (let index = 0; index < 10_000; index++) await refuse({ resource: `doc:${index}` });
  expect(await counts()).toEqual(["completed one", "pending 1"]);
  await vi.advanceTimersByTimeAsync(60_000);
  const [first, series] = await stored();
  expect(first?.data).toMatchObject({ decision: "denied", resource: "doc:0" });
  expect(series).toMatchObject({
    type: "doc.write",
    data: {
      state: "completed",
      decision: "denied",
      code: "FORBIDDEN",
      status: 403,
      principal: { id: "eve" },
      repeats: { of: first?.id, count: 9999 },
    },
  });
  expect(series?.subject).toBeUndefined();
  expect(series?.data.repeats?.resources).toHaveLength(20);
  expect(series?.data.repeats?.resources[0]).toEqual({
    resource: "doc:1",
    action: "edit",
    client_address: "192.0.2.7",
  });
  const distinct = series?.data.repeats?.distinct_resources ?? 0;
  expect(Math.abs(distinct - 9999) / 9999).toBeLessThan(0.25);
  expect((await stored()).length).toBe(2);
});

test("a series has its times, sources and count; the next one begins with its own event", async () => {
  const begin = Date.now();
  await refuse();
  vi.setSystemTime(begin + 1000);
  await refuse({ resource: "doc:d1" });
  vi.setSystemTime(begin + 2000);
  await refuse({ resource: "doc:d2", address: "198.51.100.1" });
  await refuse({ resource: "doc:d2", address: "198.51.100.1" });
  await vi.advanceTimersByTimeAsync(60_000);
  const [, series] = await stored();
  expect(series?.data.repeats).toMatchObject({
    count: 3,
    first: new Date(begin + 1000).toISOString(),
    last: new Date(begin + 2000).toISOString(),
    distinct_resources: 2,
    resources: [
      { resource: "doc:d1", action: "edit", client_address: "192.0.2.7" },
      { resource: "doc:d2", action: "edit", client_address: "198.51.100.1" },
    ],
  });
  await refuse();
  expect(await counts()).toEqual(["completed one", "completed 3", "completed one"]);
});

test("repeated calls of one object name it", async () => {
  for (let count = 0; count < 3; count++) await refuse();
  await vi.advanceTimersByTimeAsync(60_000);
  const events = (await stored()).filter(({ subject }) => subject === "doc:d1");
  expect(events.map(({ data }) => data.repeats?.count)).toEqual([undefined, 2]);
  expect(events[1]?.data.authz).toMatchObject({ subject: "user:eve", resource: "doc:d1" });
});

describe("all refusals before the handler are counted:", () => {
  test.each([
    "INVALID_ARGUMENT",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "UNAVAILABLE",
    "INTERNAL",
  ] as const)("150 calls that end with %s are two events", async (code) => {
    for (let count = 0; count < 150; count++) await refuse({ code });
    await vi.advanceTimersByTimeAsync(60_000);
    const events = await stored();
    expect(events.map(({ data }) => [data.code, data.repeats?.count])).toEqual([
      [code, undefined],
      [code, 149],
    ]);
  });

  test("an unidentified caller whose request never arrives", async () => {
    const method = boundMethod({
      policy: { exposure: "PUBLIC", publish: true, audit: { event: "a.b", riskLevel: "LOW" } },
    });
    const chain = openChain({ audit: audit.trail });
    for (let count = 0; count < 20; count++) {
      const call = newCall({ method, readRequest: () => new Promise(() => undefined) });
      const answer = chain.run(call).catch((error: ServiceError) => error.code);
      await Promise.resolve();
      call.abort(new ServiceError("DEADLINE_EXCEEDED"));
      expect(await answer).toBe("DEADLINE_EXCEEDED");
    }
    expect(await counts()).toEqual(["completed one", "pending 1"]);
  });
});

test("a single denial makes no series", async () => {
  await refuse();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await counts()).toEqual(["completed one"]);
});

test("a series is closed with the server", async () => {
  for (let count = 0; count < 5; count++) await refuse();
  vi.useRealTimers();
  await close();
  expect(await counts()).toEqual(["completed one", "completed 4"]);
});

describe("separate events are stored for [AUDIT-3]", () => {
  test.each<[string, Denied]>([
    [
      "denials of CRITICAL RPCs",
      { policy: policyOf({ audit: { event: "a.b", riskLevel: "CRITICAL" } }) },
    ],
    ["denials of services", { type: "service" }],
  ])("%s", async (_, of) => {
    for (let count = 0; count < 3; count++) await refuse(of);
    expect(await counts()).toEqual(["completed one", "completed one", "completed one"]);
  });

  test("allowed calls with any outcome", async () => {
    for (const error of [undefined, new ServiceError("FORBIDDEN"), new ServiceError("FORBIDDEN")]) {
      const call = callOf(methodOf(policyOf()), { principal: principalOf() });
      call.decision = "allowed";
      await audit.trail.begin(call);
      await audit.trail.complete(call, error);
    }
    expect(await counts()).toEqual(["completed one", "completed one", "completed one"]);
  });

  test("calls of an RPC without authorization that reached their handler", async () => {
    for (let count = 0; count < 3; count++) {
      const policy = { audit: { event: "a.b", riskLevel: "LOW" } } as const;
      const call = callOf(methodOf(policy), { principal: principalOf() });
      await audit.trail.begin(call);
      await audit.trail.complete(call, new ServiceError("FORBIDDEN"));
    }
    expect(await counts()).toEqual(["completed one", "completed one", "completed one"]);
  });
});

describe("counted separately are", () => {
  test.each<[string, Denied, Denied]>([
    ["callers", { user: "eve" }, { user: "mallory" }],
    ["subjects of the same id and another type", { type: "user" }, { type: "service_account" }],
    ["RPCs", { rpc: "a.v1.S/A" }, { rpc: "a.v1.S/B" }],
    ["reasons", { code: "FORBIDDEN" }, { code: "INVALID_ARGUMENT" }],
  ])("%s", async (_, one, other) => {
    for (let count = 0; count < 3; count++) {
      await refuse(one);
      await refuse(other);
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await counts()).sort()).toEqual([
      "completed 2",
      "completed 2",
      "completed one",
      "completed one",
    ]);
  });
});

async function all(): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.list({}, { pageSize: 500, ...(cursor === undefined ? {} : { cursor }) });
    events.push(...page.events);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return events;
}

/** The number of calls that they represent. */
const callsOf = (events: readonly AuditEvent[]) =>
  events.reduce((sum, { data }) => sum + (data.repeats?.count ?? 1), 0);

describe("the first denial of a caller is not lost among those", () => {
  const ofVictim = async (): Promise<readonly AuditEvent[]> =>
    (await all()).filter(({ data }) => data.principal?.id === "victim");

  test.each<[string, (index: number) => Denied]>([
    ["of three thousand accounts", (index) => ({ user: `u${index}` })],
    ["of one account on three thousand RPCs", (index) => ({ rpc: `a.v1.S/M${index}` })],
    [
      "of unidentified callers at three thousand sites",
      (index) => ({ user: "", address: `2001:db8:${index.toString(16)}::1` }),
    ],
    [
      "of unidentified callers at one site, on three thousand networks and RPCs",
      (index) => ({
        user: "",
        address: `2001:db8:1:${index.toString(16)}::1`,
        rpc: `a.v1.S/M${index % 100}`,
      }),
    ],
  ])("%s", async (_, flood) => {
    await Promise.all(Array.from({ length: 3000 }, (_, index) => refuse(flood(index))));
    await refuse({ user: "victim" });
    expect(await ofVictim()).toHaveLength(1);
    await refuse({ user: "victim" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await ofVictim()).map(({ data }) => data.state)).toEqual(["completed", "completed"]);
    // None of the other calls is lost.
    expect(callsOf(await all())).toBe(3002);
  });

  test("a series that is displaced by others is closed with its count", async () => {
    for (let count = 0; count < 4; count++) await refuse({ user: "victim" });
    await Promise.all(Array.from({ length: 2000 }, (_, index) => refuse({ user: `u${index}` })));
    const [counting] = (await ofVictim()).filter(({ data }) => data.repeats !== undefined);
    expect(counting?.data).toMatchObject({ state: "completed", repeats: { count: 3 } });
  });

  test("one account has at most 200 first events a minute; the others are counted by RPC", async () => {
    for (let index = 0; index < 3000; index++) await refuse({ rpc: `a.v1.S/M${index % 300}` });
    await vi.advanceTimersByTimeAsync(60_000);
    const events = await all();
    const counting = events.filter(({ data }) => data.repeats !== undefined);
    expect(counting.filter(({ data }) => data.principal !== undefined)).toHaveLength(200);
    expect(counting).toHaveLength(300);
    expect(callsOf(events)).toBe(3000);
  });
});

test("unidentified callers have at most 500 series; further calls are counted by RPC, and none is lost", async () => {
  const callers = 2000;
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < callers; index++) {
      await refuse({ user: "", address: `2001:db8:${index.toString(16)}::1` });
    }
  }
  await vi.advanceTimersByTimeAsync(60_000);
  const events = await all();
  expect(events.length).toBeLessThanOrEqual(1002);
  expect(callsOf(events)).toBe(2 * callers);
  const shared = events.find(({ data }) => data.repeats?.distinct_callers !== undefined);
  expect(shared?.data.principal).toBeUndefined();
  const distinct = shared?.data.repeats?.distinct_callers ?? 0;
  expect(Math.abs(distinct - 1500) / 1500).toBeLessThan(0.25);
});

test.each(["x", '"', "\u0000", "💥"])(
  "no series exceeds the size limit of an event, with %j",
  async (unit) => {
    for (let index = 0; index < 30; index++) {
      const resource = `doc:${index}${unit.repeat(3000)}`;
      await refuse({ user: unit.repeat(3000), address: `${index}${unit.repeat(300)}`, resource });
    }
    await vi.advanceTimersByTimeAsync(60_000);
    const events = await stored();
    expect(events.map(({ data }) => data.repeats?.count)).toEqual([undefined, 29]);
    for (const event of events) {
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    }
  },
);

test.each([0, 1, 10, 100, 1000, 100_000])("the estimate for %i texts is accurate", (count) => {
  const distinct = new DistinctCount();
  for (let index = 0; index < count; index++) {
    distinct.add(`doc:${index}`);
    distinct.add(`doc:${index % 10}`);
  }
  const real = count === 0 ? 0 : Math.max(count, Math.min(count, 10));
  expect(Math.abs(distinct.estimate - real)).toBeLessThanOrEqual(Math.ceil(real * 0.2));
});
