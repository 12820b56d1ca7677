import { expect, test } from "vitest";
import type { Call } from "../../../src/runtime/call/call.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { createRateLimiter } from "../../../src/runtime/rate-limit/rate-limiter.ts";
import { callOf, methodOf, principalOf } from "../authorization/calls.ts";

const SECOND = 1_000_000;

function limiter() {
  const clock = { now: 5 * SECOND };
  const refused: string[] = [];
  const events = { ...NO_EVENTS, rateLimited: (rpc: string) => void refused.push(rpc) };
  const limit = createRateLimiter({ now: () => clock.now, events });
  return { clock, refused, limit };
}

const headersOf = (call: Call) => Object.fromEntries(call.beginResponse() ?? []);
const limited = methodOf({ rateLimit: { qps: 2, burst: 3 } }, { rpc: "a.v1.S/Limited" });

test("an RPC without a limit is not limited, and has no headers of a limit", () => {
  const { limit } = limiter();
  const call = callOf(methodOf({}));
  limit(call);
  expect(headersOf(call)).toEqual({});
});

test("responses have the remaining calls, and refusals the time to wait", () => {
  const { limit, clock, refused } = limiter();
  const seen: [unknown, unknown][] = [];
  for (let count = 0; count < 3; count++) {
    const call = callOf(limited);
    limit(call);
    const headers = headersOf(call);
    expect(headers).toMatchObject({ "ratelimit-limit": "3", "ratelimit-policy": "3;w=2" });
    seen.push([headers["ratelimit-remaining"], headers["ratelimit-reset"]]);
  }
  expect(seen).toEqual([
    ["2", "1"],
    ["1", "1"],
    ["0", "2"],
  ]);
  const call = callOf(limited);
  expect(() => limit(call)).toThrow(
    expect.objectContaining({ code: "RATE_LIMITED", status: 429, retryAfterSeconds: 1 }),
  );
  expect(headersOf(call)).toMatchObject({ "ratelimit-remaining": "0", "ratelimit-reset": "2" });
  expect(refused).toEqual(["a.v1.S/Limited"]);
  clock.now += SECOND / 2;
  limit(callOf(limited));
  expect(() => limit(callOf(limited))).toThrow("rate limited");
});

const by = (subjectType: string, subjectId: string) => ({
  principal: principalOf({ subjectType, subjectId }),
});

test.each([
  ["two users", by("user", "a"), by("user", "b"), false],
  ["a user and a service of one name", by("user", "a"), by("service", "a"), false],
  ["a user and a service account of one id", by("user", "a"), by("service_account", "a"), false],
  ["a service and an account", by("service", "a"), by("service_account", "a"), false],
  ["an account again", by("service_account", "a"), by("service_account", "a"), true],
  ["a user at two addresses", by("user", "a"), { ...by("user", "a"), clientAddress: "::1" }, true],
  ["two addresses", { clientAddress: "192.0.2.1" }, { clientAddress: "192.0.2.2" }, false],
  ["two of one /64", { clientAddress: "2001:db8::1" }, { clientAddress: "2001:db8::2:3" }, true],
  ["two of two /64", { clientAddress: "2001:db8::1" }, { clientAddress: "2001:db8:0:1::1" }, false],
  [
    "an address and a user of that name",
    { clientAddress: "192.0.2.1" },
    by("user", "192.0.2.1"),
    false,
  ],
  ["names with spaces", by("user", "a b"), by("user", "a  b"), false],
])("%s", (what, first, second, isShared) => {
  const { limit } = limiter();
  const one = methodOf({ rateLimit: { qps: 1, burst: 1 } });
  limit(callOf(one, first));
  const again = () => limit(callOf(one, second));
  if (isShared) expect(again, what).toThrow("rate limited");
  else again();
});

test("each RPC has its own buckets", () => {
  const { limit } = limiter();
  const rate = { rateLimit: { qps: 1, burst: 1 } };
  limit(callOf(methodOf(rate, { rpc: "a.v1.S/One", index: 0 })));
  limit(callOf(methodOf(rate, { rpc: "a.v1.S/Two", index: 1 })));
});

test.each(["user", "service_account"])(
  "a flood of addresses neither takes buckets from callers of the type %s nor refills them",
  (type) => {
    const limit = createRateLimiter({ now: () => 0, events: NO_EVENTS, maxBuckets: 1000 });
    const one = methodOf({ rateLimit: { qps: 1, burst: 1 } });
    limit(callOf(one, by(type, "early")));
    for (let count = 0; count < 20_000; count++) {
      try {
        limit(
          callOf(one, { clientAddress: `2001:db8:${(count >> 8).toString(16)}:${count & 255}::1` }),
        );
      } catch {
        // Later callers share buckets.
      }
    }
    // Each has its own bucket, though the flood came first.
    for (let count = 0; count < 999; count++) limit(callOf(one, by(type, `late ${count}`)));
    expect(() => limit(callOf(one, by(type, "early")))).toThrow("rate limited");
  },
);

test("no choice of names makes two callers share a bucket, or gives one caller two [RATE-2]", () => {
  const limit = createRateLimiter({ now: () => 0, events: NO_EVENTS });
  const one = methodOf({ rateLimit: { qps: 1, burst: 1 } });
  const callers = [
    by("user", "x"),
    by("user", "service x"),
    by("user", " x"),
    by("user", " 192.0.2.1"),
    by("user", "192.0.2.1"),
    by("user", "__proto__"),
    by("user", "constructor"),
    by("service", "x"),
    by("service_account", "x"),
    by("user", "service_account x"),
    by("service", "192.0.2.1"),
    by("service", "user x"),
    by("system", "x"),
    { clientAddress: "192.0.2.1" },
    { clientAddress: "::1" },
    { clientAddress: "" },
  ];
  for (const caller of callers) limit(callOf(one, caller));
  for (const caller of callers) expect(() => limit(callOf(one, caller))).toThrow("rate limited");
  for (const clientAddress of [
    "::ffff:192.0.2.1",
    "::FFFF:c000:201",
    "64:ff9b::192.0.2.1",
    "0:0::1",
  ]) {
    expect(() => limit(callOf(one, { clientAddress }))).toThrow("rate limited");
  }
});
