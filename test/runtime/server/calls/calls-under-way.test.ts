import { expect, onTestFinished, test, vi } from "vitest";
import type { BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../../src/runtime/call/call.ts";
import { CallsUnderWay } from "../../../../src/runtime/server/calls-under-way.ts";
import { callOf, methodOf } from "../../support/sample-call.ts";

/** Running calls of these kinds. */
function underWay(...kinds: BoundMethod["kind"][]) {
  const calls = new CallsUnderWay();
  const begun = kinds.map((kind) => callOf({ method: methodOf({ kind }) }));
  for (const call of begun) calls.begin(call);
  return { calls, begun };
}

const reasons = (begun: readonly Call[]) => begun.map(({ abortReason }) => abortReason?.message);
const SAID = "the server is shutting down";
/** The age of the call, in milliseconds. */
const aged = (call: Call, ageMs: number) =>
  Object.defineProperty(call, "startedAt", { value: performance.now() - ageMs });

test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]], [[0, 2, 1]], [[1, 2, 0]]])(
  "calls that end in the order %j are running until then, and the others still are",
  (order) => {
    const { calls, begun } = underWay("unary", "unary", "unary");
    const open = new Set(begun);
    for (const index of order) {
      const call = begun[index] as Call;
      calls.end(call);
      // Even if it is reported twice.
      calls.end(call);
      open.delete(call);
      expect(calls.count).toBe(open.size);
    }
  },
);

test("only calls that are still running are ended", () => {
  const { calls, begun } = underWay("unary", "server_streaming", "raw", "unary");
  calls.end(begun[1] as Call);
  calls.abort();
  expect(reasons(begun)).toEqual([SAID, undefined, SAID, SAID]);
  expect(begun[0]?.abortReason).toMatchObject({ code: "UNAVAILABLE" });
});

test("a draining server ends old streams at once, and no other calls", () => {
  const { calls, begun } = underWay(
    ...(["unary", "raw", "server_streaming", "client_streaming", "bidi_streaming"] as const),
    "server_streaming",
  );
  for (const call of begun.slice(0, 5)) aged(call, 60_000);
  calls.drain(50_000);
  expect(reasons(begun)).toEqual([undefined, undefined, SAID, SAID, SAID, undefined]);
});

test("a young stream is ended once it is old, unless it has ended by itself", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { calls, begun } = underWay("server_streaming", "server_streaming");
  for (const call of begun) aged(call, 59_960);
  calls.drain(60_000);
  calls.end(begun[1] as Call);
  expect(reasons(begun)).toEqual([undefined, undefined]);
  vi.advanceTimersByTime(39);
  expect(reasons(begun)).toEqual([undefined, undefined]);
  vi.advanceTimersByTime(60_000);
  expect(reasons(begun)).toEqual([SAID, undefined]);
});

test.each([
  ["unary", undefined],
  ["raw", undefined],
  ["server_streaming", SAID],
  ["client_streaming", SAID],
] as const)("while it drains, what begins as %s hears: %s", (kind, said) => {
  const { calls } = underWay();
  const before = callOf({ method: methodOf({ kind }) });
  calls.begin(before);
  calls.drain(60_000);
  const after = callOf({ method: methodOf({ kind }) });
  calls.begin(after);
  expect(reasons([before, after])).toEqual([undefined, said]);
  expect(calls.count).toBe(2);
});
