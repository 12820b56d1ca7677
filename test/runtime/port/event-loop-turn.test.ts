import { once } from "node:events";
import { expect, test } from "vitest";
import { EventLoopTurn } from "../../../src/runtime/port/event-loop-turn.ts";

test("an error of a task ends neither the others nor the process", async () => {
  const turn = new EventLoopTurn();
  const done: string[] = [];
  const error = new Error("a task fails");
  turn.atEnd(() => done.push("before"));
  turn.atEnd(() => {
    throw error;
  });
  turn.atEnd(() => done.push("after"));
  expect(await once(process, "warning")).toEqual([error]);
  expect(done).toEqual(["before", "after"]);
});
