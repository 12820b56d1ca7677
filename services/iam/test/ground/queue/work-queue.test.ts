import { expect, test } from "vitest";
import { QueueFullError, WorkQueue } from "../../../src/ground/queue/work-queue.ts";

/** Work that ends on command. */
function controlled() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}

/** Lets all that is ready happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a few run at once, the others in the order of their arrival", async () => {
  const queue = new WorkQueue(2, 10);
  const { begun, work, end } = controlled();
  const all = ["a", "b", "c", "d"].map((name) => queue.run(work(name)));
  expect(begun).toEqual(["a", "b"]);
  end("b");
  await settle();
  expect(begun).toEqual(["a", "b", "c"]);
  end("a");
  end("c");
  await settle();
  end("d");
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
});

test("what comes when too many wait is refused, and not begun", async () => {
  const queue = new WorkQueue(1, 1);
  const { begun, work, end } = controlled();
  const first = queue.run(work("a"));
  const second = queue.run(work("b"));
  await expect(queue.run(work("c"))).rejects.toThrow(QueueFullError);
  end("a");
  await first;
  await settle();
  end("b");
  await second;
  expect(begun).toEqual(["a", "b"]);
});

test("work whose caller has gone is not begun, and gives its place away", async () => {
  const queue = new WorkQueue(1, 1);
  const { begun, work, end } = controlled();
  const first = queue.run(work("a"));
  const gone = new AbortController();
  const second = queue.run(work("b"), gone.signal);
  gone.abort(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  const third = queue.run(work("c"));
  end("a");
  await first;
  await settle();
  end("c");
  await third;
  expect(begun).toEqual(["a", "c"]);
  await expect(queue.run(work("d"), gone.signal)).rejects.toThrow("gone");
});

test("work that fails gives its place to the next", async () => {
  const queue = new WorkQueue(1, 1);
  const failing = queue.run(() => Promise.reject(new Error("no")));
  const next = queue.run(async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
