import { expect, test } from "vitest";
import { loadedOnce } from "../../../../src/runtime/grpc/health-and-reflection/loaded-once.ts";

test("a failed load is repeated, and its result is cached", async () => {
  let loads = 0;
  const load = loadedOnce(async () => {
    if (++loads === 1) throw new Error("not now");
    return loads;
  });
  const both = [load(), load()];
  await expect(both[0]).rejects.toThrow("not now");
  await expect(both[1]).rejects.toThrow("not now");
  expect(await load()).toBe(2);
  expect(await load()).toBe(2);
});
