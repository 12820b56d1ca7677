import { ServiceError } from "svc-access/runtime";
import { expect, test } from "vitest";
import { ChangedMeanwhileError, changeNewest } from "../../../src/ground/rpc/lost-race.ts";

const lost = new ChangedMeanwhileError("changed meanwhile");

/** @returns how often a change was tried that fails for a number of times, and how it ended */
async function attempts(
  failures: number,
  { etag = "", error = lost as Error, signal = new AbortController().signal } = {},
) {
  let count = 0;
  const outcome = await changeNewest(etag, signal, async () => {
    if (++count <= failures) throw error;
    return "changed";
  }).catch((thrown: unknown) => thrown);
  return [count, outcome];
}

test("a change without an etag is repeated after a lost race", async () => {
  expect(await attempts(0)).toEqual([1, "changed"]);
  expect(await attempts(7)).toEqual([8, "changed"]);
});

test("a change that always loses ends", async () => {
  expect(await attempts(1_000)).toEqual([24, lost]);
});

test.each([
  ["with an etag", { etag: "one" }, lost],
  ["whose caller has stopped waiting", { signal: AbortSignal.abort() }, lost],
  ["that is refused", { error: new ServiceError("FAILED_PRECONDITION", "refused") }, undefined],
])("a change %s is not repeated", async (_, options: Parameters<typeof attempts>[1], thrown) => {
  expect(await attempts(1, options)).toEqual([1, thrown ?? options?.error]);
});
