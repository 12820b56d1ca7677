import { describe, expect, test } from "vitest";
import { Freshness } from "../../../src/authz/spicedb/freshness.ts";
import { revisionOf } from "../../../src/authz/spicedb/revision.ts";

const FULLY = { requirement: { oneofKind: "fullyConsistent", fullyConsistent: true } };
const atLeast = (token: string) => ({
  requirement: { oneofKind: "atLeastAsFresh", atLeastAsFresh: { token } },
});

describe("a read is at least as fresh as", () => {
  test("everything, before anything is known", () => {
    expect(new Freshness().read(undefined).consistency).toEqual(FULLY);
  });

  test("the last write", () => {
    const freshness = new Freshness();
    freshness.write()("one");
    freshness.write()("two");
    expect(freshness.read(undefined).consistency).toEqual(atLeast("two"));
    expect(freshness.read(revisionOf("one")).consistency).toEqual(atLeast("two"));
  });

  test("both of two writes at once, whose order is unknown", () => {
    const freshness = new Freshness();
    const [first, second] = [freshness.write(), freshness.write()];
    second("two");
    expect(freshness.read(undefined).consistency).toEqual(atLeast("two"));
    first("one");
    expect(freshness.read(undefined).consistency).toEqual(FULLY);
  });

  test("a write whose answer was lost", () => {
    const freshness = new Freshness();
    freshness.write()("one");
    freshness.write()();
    expect(freshness.read(undefined).consistency).toEqual(FULLY);
  });

  test("a revision that is given, and our own write", () => {
    const freshness = new Freshness();
    freshness.write()("one");
    const read = freshness.read(revisionOf("elsewhere"));
    expect(read.consistency).toEqual(FULLY);
    read.seen("three");
    expect(freshness.read(revisionOf("elsewhere")).consistency).toEqual(atLeast("three"));
    expect(freshness.read(revisionOf("one")).consistency).toEqual(atLeast("three"));
  });

  test("a write that happened while an older read was under way", () => {
    const freshness = new Freshness();
    const read = freshness.read(undefined);
    freshness.write()("new");
    read.seen("old");
    expect(freshness.read(undefined).consistency).toEqual(atLeast("new"));
  });
});
