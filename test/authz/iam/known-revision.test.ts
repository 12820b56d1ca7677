import { describe, expect, test } from "vitest";
import { KnownRevision } from "../../../src/authz/iam/known-revision.ts";

const asFresh = (value: string) => ({ requirement: { case: "atLeastAsFresh", value } });
const newest = { requirement: { case: "fullyConsistent", value: true } };
const newestBeside = (besideRevision: string) => ({ ...newest, besideRevision });

describe("a read is at least as fresh as [ENG-7]", () => {
  test("nothing, before a write", () => {
    const known = new KnownRevision();
    expect(known.read(undefined).consistency).toBeUndefined();
    expect(known.read("given").consistency).toEqual(asFresh("given"));
    expect(known.read("given").isOwn).toBe(false);
  });

  test("the last write", () => {
    const known = new KnownRevision();
    known.write()("one");
    known.write()("two");
    expect(known.read(undefined)).toMatchObject({ consistency: asFresh("two"), isOwn: true });
    expect(known.read("two")).toMatchObject({ consistency: asFresh("two"), isOwn: false });
    expect(known.read("one")).toMatchObject({ consistency: asFresh("two"), isOwn: true });
  });

  test("the newest state, if that is asked for", () => {
    const known = new KnownRevision();
    known.write()("one");
    expect(known.read(undefined, true).consistency).toEqual(newest);
    expect(known.read("given", true).consistency).toEqual(newestBeside("given"));
  });

  test("both of two concurrent writes, whose order is not known", () => {
    const known = new KnownRevision();
    const [first, second] = [known.write(), known.write()];
    second("two");
    expect(known.read(undefined).consistency).toEqual(asFresh("two"));
    first("one");
    expect(known.read(undefined).consistency).toEqual(newest);
    // One that began after both is newer.
    known.write()("three");
    expect(known.read(undefined).consistency).toEqual(asFresh("three"));
  });

  test("a write whose answer was lost", () => {
    const known = new KnownRevision();
    known.write()("one");
    known.write()();
    const read = known.read(undefined);
    expect(read.consistency).toEqual(newest);
    read.seen("two");
    expect(known.read(undefined).consistency).toEqual(asFresh("two"));
    expect(known.read("one").consistency).toEqual(asFresh("two"));
  });

  test("a given revision, and the own write", () => {
    const known = new KnownRevision();
    known.write()("one");
    const read = known.read("elsewhere");
    expect(read.consistency).toEqual(newestBeside("elsewhere"));
    read.seen("two");
    expect(known.read("elsewhere").consistency).toEqual(asFresh("two"));
    expect(known.read("other").consistency).toEqual(newestBeside("other"));
  });

  test("a write that happened while the newest state was asked for", () => {
    const known = new KnownRevision();
    const read = known.read(undefined, true);
    known.write()("two");
    read.seen("one");
    expect(known.read(undefined).consistency).toEqual(asFresh("two"));
  });
});

test("a state that IAM has lost is replaced by its newest one", () => {
  const known = new KnownRevision();
  known.write()("lost");
  const again = known.readWithoutKnown(undefined);
  expect(again.consistency).toEqual(newest);
  // Only once it was read.
  expect(known.read(undefined).consistency).toEqual(asFresh("lost"));
  again.seen("restored");
  expect(known.read(undefined).consistency).toEqual(asFresh("restored"));
  expect(known.read("lost").consistency).toEqual(newestBeside("lost"));
});
