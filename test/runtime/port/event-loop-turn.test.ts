import { once } from "node:events";
import { expect, test } from "vitest";
import { afterTurns, EventLoopTurn } from "../../../src/runtime/port/event-loop-turn.ts";

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

const turnEnds = () => new Promise((resolve) => setImmediate(resolve));

test("a task waits for the end of the turn, unless one call is waiting", async () => {
  const turn = new EventLoopTurn();
  const done: string[] = [];
  turn.atEnd(() => done.push("of nobody"));
  turn.enter();
  turn.atEnd(() => done.push("after another task"));
  expect(done).toEqual([]);
  await turnEnds();
  expect(done.splice(0)).toEqual(["of nobody", "after another task"]);

  turn.enter();
  turn.atEnd(() => done.push("of two calls"));
  expect(done).toEqual([]);
  await turnEnds();
  expect(done.splice(0)).toEqual(["of two calls"]);

  turn.leave();
  turn.atEnd(() => done.push("of the only call"));
  expect(done).toEqual(["of the only call"]);
});

test("an error of a task that does not wait ends nothing either", async () => {
  const turn = new EventLoopTurn();
  const error = new Error("the task fails");
  turn.enter();
  turn.atEnd(() => {
    throw error;
  });
  expect(await once(process, "warning")).toEqual([error]);
});

test.each([1, 2, 3])("a task is run after %i turns", async (turns) => {
  let isDone = false;
  afterTurns(turns, () => {
    isDone = true;
  });
  for (let turn = 0; turn < turns; turn++) {
    expect(isDone).toBe(false);
    await turnEnds();
  }
  expect(isDone).toBe(true);
});
