/** The stream of changes: where it begins, what it shows, and how it ends. */
import { createEmbeddedEngine, createMemoryStore, parseModel } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { RelationshipWatches } from "../../../src/api/permissions/relationship-watches.ts";
import {
  type IamWithServices,
  type PermissionClient,
  relationship,
  startWithServices,
  store,
} from "../../support/permissions.ts";

/** The texts of the updates that a watch brings, one list for each write. */
async function* changes(client: PermissionClient, fromRevision?: string) {
  const request = fromRevision === undefined ? {} : { fromRevision };
  for await (const { updates, revision } of client.watchRelationships(request)) {
    if (updates.length === 0) continue;
    const ids = updates.map(({ relationship }) => relationship?.resource);
    yield { revision, ids: ids.map((object) => `${object?.type}:${object?.id}`) };
  }
}

describe("a watch", () => {
  let it: IamWithServices;
  beforeAll(async () => {
    it = await startWithServices();
  });
  afterAll(() => it.stop());

  test("shows the changes after a revision, of the types that its service reads", async () => {
    const start = await store(it.engine, ["project:w0#owner@user:a"]);
    await store(it.engine, ["project:w1#owner@user:a", "zone:w1#owner@user:a"]);
    await store(it.engine, ["zone:w2#owner@user:a"]);
    await store(it.engine, ["project:w3#owner@user:a"]);
    const [all, some] = [changes(it.as("hub"), start), changes(it.as("reader"), start)];
    const take = async (watch: typeof all) => (await watch.next()).value;
    expect((await take(all))?.ids.sort()).toEqual(["project:w1", "zone:w1"]);
    expect((await take(all))?.ids).toEqual(["zone:w2"]);
    const first = await take(some);
    expect(first?.ids).toEqual(["project:w1"]);
    expect((await take(some))?.ids).toEqual(["project:w3"]);
    // It begins again where it was left.
    const again = changes(it.as("reader"), first?.revision);
    expect((await take(again))?.ids).toEqual(["project:w3"]);
    await Promise.all([all, some, again].map((watch) => watch.return(undefined)));
  });

  test("without a revision begins at once, and shows the changes from then on", async () => {
    const responses = it.as("hub").watchRelationships({})[Symbol.asyncIterator]();
    expect((await responses.next()).value).toMatchObject({ revision: "", updates: [] });
    await it
      .as("hub")
      .writeRelationship({ relationship: relationship("project:now#owner@user:a") });
    let next = await responses.next();
    while (next.value.updates.length === 0) next = await responses.next();
    expect(next.value.updates[0].relationship.resource.id).toBe("now");
    await responses.return?.();
  });

  test.each(["", "nonsense"])("from the revision %j is refused", async (revision) => {
    await expect(changes(it.as("hub"), revision).next()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("revision token"),
    });
  });

  test("does not keep the service from stopping", async () => {
    const other = await startWithServices({ server: { shutdown_timeout_ns: 600_000_000_000 } });
    const watch = other.as("hub").watchRelationships({})[Symbol.asyncIterator]();
    await watch.next();
    const ended = expect(watch.next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await other.stop();
    await ended;
  });
});

describe("the watches of a process", () => {
  const { model } = parseModel(
    "definition user {}\ndefinition doc {\n relation viewer: user\n}",
    "m",
  );
  const open = async (heartbeatMs?: number) => {
    const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
    onTestFinished(() => engine.close());
    const watches = new RelationshipWatches(engine, heartbeatMs);
    const watch = (service = "hub", signal = new AbortController().signal) =>
      watches.watch({ from: undefined, service, mayRead: () => true, signal });
    const write = (viewer: string) =>
      engine.writeRelationships({
        updates: [
          {
            operation: "TOUCH",
            relationship: {
              resource: { type: "doc", id: "d" },
              relation: "viewer",
              subject: { type: "user", id: viewer },
            },
          },
        ],
      });
    return { engine, watches, watch, write };
  };

  test("say every two seconds that there is no news", async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.useRealTimers();
    });
    const { watch } = await open();
    // Others in this process, such as drivers of databases, have timers too.
    const started = vi.spyOn(globalThis, "setTimeout");
    const news = watch();
    await news.next();
    let count = 0;
    for (let beats = 1; beats <= 3; beats++) {
      const next = news.next().then(() => count++);
      await vi.advanceTimersByTimeAsync(1999);
      expect(count).toBe(beats - 1);
      await vi.advanceTimersByTimeAsync(1);
      await next;
    }
    await news.return(undefined);
    // Each of them has ended, and no other one waits.
    expect(started.mock.calls.filter(([, delay]) => delay === 2000)).toHaveLength(3);
  });

  test("say where to continue after changes that their service may not read", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { watches, write } = await open();
    const { signal } = new AbortController();
    const request = { from: undefined, service: "hub", mayRead: () => false, signal };
    const news = watches.watch(request);
    expect((await news.next()).value).toEqual({ revision: "", updates: [] });
    let last = "";
    const beat = news.next();
    // They come all the time, and the watch is not silent for that.
    for (let at = 0; at < 2100; at += 100) {
      if (at < 2000) ({ revision: last } = await write(`u${at}`));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect((await beat).value).toEqual({ revision: last, updates: [] });
    const quiet = news.next();
    await vi.advanceTimersByTimeAsync(2100);
    expect((await quiet).value).toEqual({ revision: "", updates: [] });
    await news.return(undefined);
  });

  test("are at most 100 of a service, which others do not notice", async () => {
    const { watch } = await open();
    const running = Array.from({ length: 100 }, () => watch());
    await Promise.all(running.map((each) => each.next()));
    await expect(watch().next()).rejects.toMatchObject({ code: "RATE_LIMITED" });
    await watch("other").next();
    await running[0]?.return(undefined);
    await watch().next();
  });

  test("end with the signal of their caller, and with the process", async () => {
    const { watch, watches } = await open();
    const caller = new AbortController();
    const [left, stays] = [watch("hub", caller.signal), watch()];
    await Promise.all([left.next(), stays.next()]);
    const pending = left.next();
    caller.abort();
    await expect(pending).rejects.toMatchObject({ code: "CANCELLED" });
    const last = stays.next();
    watches.close();
    await expect(last).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(
      watch()
        .next()
        .then(() => watch().next()),
    ).resolves.toBeDefined();
  });
});
