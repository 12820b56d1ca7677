/** Streams of events are authorized anew each second. */
import { create } from "@bufbuild/protobuf";
import type { AuthorizationEngine } from "svc-access/authz";
import { type AuditLog, type CallContext, ServiceError } from "svc-access/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  ExportAuditEventsRequestSchema,
  FollowAuditEventsRequestSchema,
} from "../../../gen/svc/iam/v1/audit_pb.ts";
import { auditHandlers } from "../../../src/api/audit/audit-handlers.ts";
import { StandingReaders } from "../../../src/api/audit/standing-readers.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const ROOT = {
  subjectId: "root",
  subjectType: "user",
  organizationId: "acme",
  source: "gateway",
} as const;

/** A stream whose check does these things one after the other, and then succeeds. */
function stream(outcomes: readonly (Error | boolean)[]) {
  const left = [...outcomes];
  const check = vi.fn<AuthorizationEngine["check"]>(async () => {
    const outcome = left.shift() ?? true;
    if (typeof outcome !== "boolean") throw outcome;
    return { allowed: outcome, revision: "1" } as never;
  });
  // A revocation of all that the caller has, which is not for callers whom a gateway names.
  const revocations = { isRevoked: () => true };
  const readers = new StandingReaders({ engine: { check }, revocations, refuseBarred: () => {} });
  const leaving = new AbortController();
  const call = { principal: ROOT, signal: leaving.signal } as unknown as CallContext;
  const messages = readers.whilePermitted(call, async function* (signal) {
    for (let count = 1; ; count++) {
      yield count;
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        tick = resolve;
      });
    }
  });
  let tick = () => {};
  return {
    check,
    next: () => messages.next(),
    /** Lets a second pass, and the stream have one more message. */
    async second() {
      const called = check.mock.calls.length;
      const next = messages.next();
      next.catch(() => {});
      await vi.advanceTimersByTimeAsync(1000);
      expect(check.mock.calls.length).toBe(called + 1);
      tick();
      return next;
    },
  };
}

const away = new ServiceError("UNAVAILABLE", "SpiceDB does not answer");

test.each<[string, readonly (Error | boolean)[], string]>([
  ["the permission is lost", [false], "FORBIDDEN"],
  ["the caller is barred", [new ServiceError("UNAUTHORIZED")], "UNAUTHORIZED"],
  ["the permission is lost after an outage", [away, away, false], "FORBIDDEN"],
  ["it is not known five times in a row", [away, away, away, away, away], "UNAVAILABLE"],
])("a stream ends when %s", async (_, outcomes, code) => {
  const { next, second } = stream(outcomes);
  await next();
  for (const _ of outcomes.slice(1)) expect(await second()).toMatchObject({ done: false });
  await expect(second()).rejects.toMatchObject({ code });
});

test("a stream goes on where it is not known for a few seconds", async () => {
  const { next, second } = stream([away, away, away, away, true, away, away, away, away]);
  await next();
  for (let count = 2; count < 12; count++) {
    expect(await second()).toEqual({ done: false, value: count });
  }
});

test.each<[string, number, readonly Error[]]>([
  ["its question has no answer", 6, []],
  ["it fails twice, and has no answer", 4, [away, away]],
])("a stream ends within six seconds when %s", async (_, seconds, outcomes) => {
  const { next, second, check } = stream(outcomes);
  await next();
  for (const _ of outcomes) await second();
  check.mockImplementation(() => new Promise(() => {}));
  const last = next();
  const ended = vi.fn();
  last.catch(ended);
  await vi.advanceTimersByTimeAsync((seconds - 1) * 1000);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000);
  await expect(last).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test.each(["exportAuditEvents", "followAuditEvents"] as const)("%s has such a stream", (rpc) => {
  const whilePermitted = vi.fn(async function* () {
    throw new ServiceError("FORBIDDEN", "lost");
  });
  const handlers = auditHandlers({} as AuditLog, "acme", {
    readers: { whilePermitted, assertHolds: async () => {} } as unknown as StandingReaders,
    stopping: new AbortController().signal,
  });
  const call = { principal: ROOT, signal: new AbortController().signal } as unknown as CallContext;
  const [Export, Follow] = [ExportAuditEventsRequestSchema, FollowAuditEventsRequestSchema];
  const messages =
    rpc === "exportAuditEvents"
      ? handlers[rpc](create(Export), call)
      : handlers[rpc](create(Follow), call);
  return expect(messages[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
});
