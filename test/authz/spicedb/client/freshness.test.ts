import { describe, expect, test } from "vitest";
import { Freshness } from "../../../../src/authz/spicedb/client/freshness.ts";
import { revisionOf } from "../../../../src/authz/spicedb/client/tokens.ts";

/** A text encoded like a ZedToken: field 3 of a message. */
const token = (text: string) =>
  Buffer.from([0x1a, text.length, ...Buffer.from(text)]).toString("base64");
const [one, two, three] = ["one", "two", "three"].map(token) as [string, string, string];
const newest = token("newest");
const elsewhere = revisionOf(token("elsewhere"));
const known = () => new Freshness(async () => newest);
const stateOf = async (freshness: Freshness, given?: string) =>
  (await freshness.read(given === undefined ? {} : { atLeastAsFresh: given })).atLeast;

describe("a read is at least as fresh as [ENG-7]", () => {
  test("the newest state, before anything is known", async () => {
    const { consistency, atLeast } = await known().read();
    expect(atLeast).toBe(newest);
    expect(consistency).toEqual({
      requirement: { oneofKind: "atLeastAsFresh", atLeastAsFresh: { token: newest } },
    });
  });

  test("the last write", async () => {
    const freshness = known();
    freshness.write()(one);
    freshness.write()(two);
    expect(await stateOf(freshness)).toBe(two);
    expect(await stateOf(freshness, revisionOf(one))).toBe(two);
  });

  test("the newest state, if that is requested after a write", async () => {
    const freshness = known();
    freshness.write()(one);
    expect((await freshness.read({ newest: true })).atLeast).toBe(newest);
    expect((await freshness.read({ newest: false })).atLeast).toBe(newest);
    freshness.write()(two);
    expect((await freshness.read({ newest: false })).atLeast).toBe(two);
  });

  test("both of two concurrent writes, whose order is unknown", async () => {
    const freshness = known();
    const [first, second] = [freshness.write(), freshness.write()];
    second(two);
    expect(await stateOf(freshness)).toBe(two);
    first(one);
    expect(await stateOf(freshness)).toBe(newest);
  });

  test("a write whose answer was lost", async () => {
    const freshness = known();
    freshness.write()(one);
    freshness.write()();
    expect(await stateOf(freshness)).toBe(newest);
  });

  test("a given revision, and our own write", async () => {
    const freshness = known();
    freshness.write()(one);
    const read = await freshness.read({ atLeastAsFresh: elsewhere });
    expect(read.atLeast).toBe(newest);
    read.seen(three);
    expect(await stateOf(freshness, elsewhere)).toBe(three);
    expect(await stateOf(freshness, revisionOf(one))).toBe(three);
  });

  test("a write that happened while an older read was under way", async () => {
    const freshness = known();
    const read = await freshness.read();
    freshness.write()(one);
    read.seen(two);
    expect(await stateOf(freshness)).toBe(one);
  });

  test("a write that happened while the newest state was requested", async () => {
    const answers: ((zedToken: string) => void)[] = [];
    const freshness = new Freshness(() => new Promise((resolve) => answers.push(resolve)));
    const before = freshness.read();
    const same = freshness.read();
    expect(answers).toHaveLength(1);
    const [first, second] = [freshness.write(), freshness.write()];
    first(one);
    second(two);
    const after = freshness.read();
    expect(answers).toHaveLength(2);
    answers[1]?.(three);
    expect((await after).atLeast).toBe(three);
    // The older answer comes last, and is valid only for reads from before the writes.
    answers[0]?.(newest);
    expect([(await before).atLeast, (await same).atLeast]).toEqual([newest, newest]);
    expect(await stateOf(freshness)).toBe(three);
  });
});

test("a caller that cancels does not cancel the request that others wait for", async () => {
  const answers: ((zedToken: string) => void)[] = [];
  const freshness = new Freshness(() => new Promise((resolve) => answers.push(resolve)));
  const gone = new AbortController();
  const [left, stays] = [freshness.read({ signal: gone.signal }), freshness.read()];
  gone.abort();
  await expect(left).rejects.toMatchObject({ code: "CANCELLED" });
  answers[0]?.(one);
  expect((await stays).atLeast).toBe(one);
});

test("if the newest state cannot be read, the next read requests it again", async () => {
  let down = true;
  const freshness = new Freshness(async () => {
    if (down) throw new Error("down");
    return newest;
  });
  await expect(freshness.read()).rejects.toThrow("down");
  down = false;
  expect(await stateOf(freshness)).toBe(newest);
});
