import { describe, expect, test } from "vitest";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { engineOf, request, SCHEMA, updates, useSpicedb } from "./fixture.ts";

describe.skipIf(spicedbIsAbsent())("the SpiceDB engine, on a real SpiceDB", () => {
  const spicedb = useSpicedb(SCHEMA);
  const write = (...texts: string[]) =>
    spicedb.engine.writeRelationships({ updates: updates("TOUCH", ...texts) });

  test("the cursor of a lookup pins its state, also where nothing is kept in memory", async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `p.${String(index).padStart(2, "0")}`);
    await write(...ids.map((id) => `document:${id}#approver@user:pat`));
    const subject = { type: "user", id: "pat" };
    const lookup = {
      ...{ resourceType: "document", permission: "approver", subject },
      pageSize: 20,
    };
    const first = await spicedb.engine.lookupResources(lookup);
    await write("document:p.zz#approver@user:pat");
    const cursor = first.nextCursor ?? "";
    const other = await engineOf(spicedb.server, SCHEMA);
    for (const engine of [spicedb.engine, other]) {
      const { items } = await engine.lookupResources({ ...lookup, cursor });
      expect([...first.items, ...items]).toEqual(ids);
    }
    await other.close();
  });

  test("a revision of another engine is seen, and one of another SpiceDB is the newest state", async () => {
    const other = await engineOf(spicedb.server, SCHEMA);
    const asked = request("document:shared#view@user:alice");
    await other.check(asked);
    const { revision } = await write("document:shared#viewer@user:alice");
    expect((await other.check(asked, { atLeastAsFresh: revision })).allowed).toBe(true);
    await other.close();
    const elsewhere = await startSpicedb();
    try {
      const engine = await engineOf(elsewhere, SCHEMA);
      await engine.writeSchema(SCHEMA);
      expect((await engine.check(asked, { atLeastAsFresh: revision })).allowed).toBe(false);
      const changes = engine.watch(revision)[Symbol.asyncIterator]();
      await expect(changes.next()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      await engine.close();
    } finally {
      await elsewhere.stop();
    }
  });

  test.each([
    ["some", { resourceType: "group", resourceId: "t" }],
    ["all", {}],
  ])("a cursor of %s relationships that was tampered with is refused", async (_, filter) => {
    await write("group:t#member@user:a", "group:t#member@user:b");
    const { engine } = spicedb;
    const { nextCursor = "" } = await engine.readRelationships(filter, { pageSize: 1 });
    // Its state, and where SpiceDB goes on.
    for (const part of [2, 3]) {
      const parts = JSON.parse(Buffer.from(nextCursor, "base64url").toString());
      parts[part] = "tampered";
      const cursor = Buffer.from(JSON.stringify(parts)).toString("base64url");
      const call = engine.readRelationships(filter, { pageSize: 1, cursor });
      await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("a SpiceDB without a schema, or with another one, is told in ready()", async () => {
    const elsewhere = await startSpicedb();
    const engine = await engineOf(elsewhere, SCHEMA);
    try {
      const asked = request("document:a#view@user:alice");
      expect(await engine.ready()).toEqual({ ready: false, reason: "SpiceDB has no schema" });
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      const other = await engineOf(elsewhere, "definition user {}");
      await other.writeSchema("definition user {}");
      await other.close();
      const reason = "the schema in SpiceDB is not the model's";
      expect(await engine.ready()).toEqual({ ready: false, reason });
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    } finally {
      await engine.close();
      await elsewhere.stop();
    }
  });

  test("writes a schema that means something else, and says what blocks it", async () => {
    await write("document:blocked#approver@user:alice");
    expect(await spicedb.engine.ready()).toEqual({ ready: true });
    expect(await spicedb.engine.writeSchema(`// The same.\n${SCHEMA}`)).toEqual({ written: false });
    const narrower = SCHEMA.replace("relation approver: user", "relation approver: group");
    await expect(spicedb.engine.writeSchema(narrower)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringMatching(/approver/),
    });
    const wider = SCHEMA.replace("relation approver: user", "relation approver: user | group");
    expect(await spicedb.engine.writeSchema(wider)).toEqual({ written: true });
    expect(await spicedb.engine.ready()).toMatchObject({ ready: false });
    await spicedb.engine.writeSchema(SCHEMA);
  });

  test("what is decided after a schema was written is decided by it", async () => {
    await write("document:new#viewer@user:alice", "document:new#banned@user:alice");
    const asked = request("document:new#view@user:alice");
    expect((await spicedb.engine.check(asked)).allowed).toBe(false);
    await spicedb.engine.writeSchema(SCHEMA.replace("(viewer - banned)", "viewer"));
    expect((await spicedb.engine.check(asked)).allowed).toBe(true);
    await spicedb.engine.writeSchema(SCHEMA);
    expect((await spicedb.engine.check(asked)).allowed).toBe(false);
  });

  test("a key that SpiceDB refuses is no decision, and is not shown", async () => {
    const engine = await engineOf({ ...spicedb.server, token: "wrong-secret" }, SCHEMA);
    const failure = await engine.check(request("document:a#view@user:alice")).catch((e) => e);
    expect(failure).toMatchObject({ code: "UNAVAILABLE" });
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain("wrong-secret");
    expect(await engine.ready()).toMatchObject({ ready: false });
    await engine.close();
  });
});
