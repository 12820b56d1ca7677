/** How many notices of logouts wait, and for how long the end of the process waits for them. */
import { afterEach, expect, test, vi } from "vitest";
import { pending } from "../../../../../test/support/pending.ts";
import { LogoutNotices } from "../../../src/provider/embedded/logout-notices.ts";

afterEach(() => void vi.useRealTimers());

const forever = (_?: unknown) => new Promise<void>(() => undefined);
/** All that does not wait for a client has happened. */
const settled = () => new Promise(setImmediate);

function begin() {
  const logged: [object, string][] = [];
  const warn = (fields: object, message: string) => void logged.push([fields, message]);
  return { notices: new LogoutNotices({ warn }), logged };
}

test("four are sent at once to each client", async () => {
  const { notices } = begin();
  const sent: string[] = [];
  for (const client of ["one", "two"]) {
    for (let count = 0; count < 6; count++) {
      notices.add(client, () => forever(void sent.push(client)));
    }
  }
  await settled();
  expect(sent).toEqual(["one", "two"].flatMap((client) => Array(4).fill(client)));
});

test("clients that do not answer delay no other, however many they are", async () => {
  const { notices, logged } = begin();
  for (let client = 0; client < 50; client++) {
    for (let count = 0; count < 20; count++) notices.add(`silent-${client}`, forever);
  }
  const sent: string[] = [];
  for (let count = 0; count < 100; count++) {
    notices.add("console", async () => void sent.push("console"));
  }
  await settled();
  expect(sent).toHaveLength(100);
  expect(logged).toEqual([]);
});

test("a thousand wait for the same client, and those that are too many are in the log", async () => {
  const { notices, logged } = begin();
  for (let count = 0; count < 4 + 1000; count++) notices.add("silent", forever);
  await settled();
  expect(logged).toEqual([]);
  notices.add("silent", forever);
  const send = vi.fn(async () => undefined);
  notices.add("console", send);
  await settled();
  expect(logged).toMatchObject([
    [
      { client: "silent", error: { name: "QueueFullError" } },
      "a client was not notified of a logout",
    ],
  ]);
  expect(send).toHaveBeenCalledOnce();
});

test("one that fails is in the log, and the others are sent", async () => {
  const { notices, logged } = begin();
  const sent: string[] = [];
  notices.add("one", async () => {
    throw new Error("no answer");
  });
  notices.add("two", async () => void sent.push("two"));
  await notices.close();
  expect(sent).toEqual(["two"]);
  expect(logged).toMatchObject([[{ client: "one" }, "a client was not notified of a logout"]]);
});

test("the end of the process waits for four seconds at most, and says what is left", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { notices, logged } = begin();
  notices.add("one", forever);
  notices.add("two", async () => undefined);
  const closed = notices.close();
  await vi.advanceTimersByTimeAsync(4000);
  await closed;
  expect(logged).toEqual([
    [{ notices: 1 }, "the service stops before it has sent all notices of logouts"],
  ]);
});

test("the end of the process waits for what is added meanwhile, and then takes no more", async () => {
  const { notices, logged } = begin();
  const [first, second] = [pending(), pending()];
  notices.add("one", () => first.promise);
  let isClosed = false;
  const closed = notices.close().then(() => {
    isClosed = true;
  });
  notices.add("two", () => second.promise);
  first.resolve();
  await settled();
  expect(isClosed).toBe(false);
  second.resolve();
  await closed;
  expect(logged).toEqual([]);
  const send = vi.fn(async () => undefined);
  notices.add("three", send);
  await settled();
  expect(send).not.toHaveBeenCalled();
  expect(logged).toMatchObject([
    [
      { client: "three", error: { message: "the service stops" } },
      "a client was not notified of a logout",
    ],
  ]);
});
