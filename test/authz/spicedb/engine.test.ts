import { describe, expect, test } from "vitest";
import type { Change } from "../../../src/authz/engine/requests.ts";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { engineOf, request, SCHEMA, updates, useSpicedb } from "./fixture.ts";

describe.skipIf(spicedbIsAbsent())("the SpiceDB engine, on a real SpiceDB", () => {
  const spicedb = useSpicedb(SCHEMA);
  const write = (...texts: string[]) =>
    spicedb.engine.writeRelationships({ updates: updates("TOUCH", ...texts) });

  test("the cursor of a lookup pins its state, even if nothing is cached", async () => {
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

  test("a revision of another engine is respected, and one of another SpiceDB means the newest state", async () => {
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
    ["some", { resourceType: "team", resourceId: "t" }],
    ["all", {}],
  ])("a cursor of %s relationships that was tampered with is refused", async (_, filter) => {
    await write("team:t#member@user:a", "team:t#member@user:b");
    const { engine } = spicedb;
    const { nextCursor = "" } = await engine.readRelationships(filter, { pageSize: 1 });
    // Its state, and the cursor of SpiceDB.
    for (const part of [2, 3]) {
      const parts = JSON.parse(Buffer.from(nextCursor, "base64url").toString());
      parts[part] = "tampered";
      const cursor = Buffer.from(JSON.stringify(parts)).toString("base64url");
      const call = engine.readRelationships(filter, { pageSize: 1, cursor });
      await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("a SpiceDB without a schema, or with another one, is reported in ready()", async () => {
    const elsewhere = await startSpicedb();
    const engine = await engineOf(elsewhere, SCHEMA);
    try {
      const asked = request("document:a#view@user:alice");
      expect(await engine.ready()).toEqual({
        ready: false,
        reason: expect.stringMatching(
          /^SpiceDB at [\d.:]+ has no schema: write the model to it, such as with zed schema write$/,
        ),
      });
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      const other = await engineOf(elsewhere, "definition user {}");
      await other.writeSchema("definition user {}");
      await other.close();
      expect(await engine.ready()).toEqual({
        ready: false,
        reason: expect.stringMatching(
          /^the schema in SpiceDB does not contain the service's model: it lacks .*; write the model of all services that use SpiceDB \(svc-access model merge makes it\) with zed schema write$/,
        ),
      });
      await expect(engine.check(asked)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    } finally {
      await engine.close();
      await elsewhere.stop();
    }
  });

  test("writes a schema with another meaning, and reports what prevents that", async () => {
    await write("document:blocked#approver@user:alice");
    expect(await spicedb.engine.ready()).toEqual({ ready: true });
    expect(await spicedb.engine.writeSchema(`// The same.\n${SCHEMA}`)).toEqual({ written: false });
    const narrower = SCHEMA.replace("relation approver: user", "relation approver: team");
    await expect(spicedb.engine.writeSchema(narrower)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringMatching(/approver/),
    });
    const wider = SCHEMA.replace("relation approver: user", "relation approver: user | team");
    expect(await spicedb.engine.writeSchema(wider)).toEqual({ written: true });
    expect(await spicedb.engine.ready()).toEqual({
      ready: false,
      reason: expect.stringContaining("its document differs (approver)"),
    });
    await spicedb.engine.writeSchema(SCHEMA);
  });

  test("a schema with the models of several services works for each, and none sees another's [MODEL-3]", async () => {
    const shared = await startSpicedb();
    const platform = `${SCHEMA}
definition bill { relation payer: user
  permission settle = payer
}`;
    const bills =
      "definition bill { permission settle = payer\n relation payer: user\n}\ndefinition user {}";
    const engines = await Promise.all([SCHEMA, bills].map((schema) => engineOf(shared, schema)));
    const [own, other] = engines as [(typeof engines)[0], (typeof engines)[0]];
    try {
      const writer = await engineOf(shared, platform);
      expect(await writer.writeSchema(platform)).toEqual({ written: true });
      await writer.close();
      for (const engine of engines) expect(await engine.ready()).toEqual({ ready: true });
      // A service that writes its own model does not remove the others.
      expect(await other.writeSchema(bills)).toEqual({ written: false });
      expect(await own.ready()).toEqual({ ready: true });
      const changes = own.watch()[Symbol.asyncIterator]();
      const next = changes.next();
      await other.writeRelationships({ updates: updates("TOUCH", "bill:one#payer@user:alice") });
      await own.writeRelationships({ updates: updates("TOUCH", "document:one#viewer@user:alice") });
      expect((await other.check(request("bill:one#settle@user:alice"))).allowed).toBe(true);
      expect((await own.check(request("document:one#view@user:alice"))).allowed).toBe(true);
      const types = async (filter: object) =>
        (await own.readRelationships(filter)).items.map(({ resource }) => resource.type);
      expect(await types({ resourceId: "one" })).toEqual(["document"]);
      const all: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await own.readRelationships({}, cursor === undefined ? {} : { cursor });
        all.push(...page.items.map(({ resource }) => resource.type));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(all).toEqual(["document"]);
      const { value } = await next;
      expect(
        (value as Change | undefined)?.updates.map(
          ({ relationship }) => relationship.resource.type,
        ),
      ).toEqual(["document"]);
      await changes.return?.(undefined);
    } finally {
      for (const engine of engines) await engine.close();
      await shared.stop();
    }
  });

  test("decisions after a schema was written follow that schema", async () => {
    await write("document:new#viewer@user:alice", "document:new#banned@user:alice");
    const asked = request("document:new#view@user:alice");
    expect((await spicedb.engine.check(asked)).allowed).toBe(false);
    await spicedb.engine.writeSchema(SCHEMA.replace("(viewer - banned)", "viewer"));
    expect((await spicedb.engine.check(asked)).allowed).toBe(true);
    await spicedb.engine.writeSchema(SCHEMA);
    expect((await spicedb.engine.check(asked)).allowed).toBe(false);
  });

  test("a key that SpiceDB refuses is an error, not a decision, and the error does not contain it", async () => {
    const engine = await engineOf({ ...spicedb.server, token: "wrong-secret" }, SCHEMA);
    const failure = await engine.check(request("document:a#view@user:alice")).catch((e) => e);
    expect(failure).toMatchObject({ code: "UNAVAILABLE" });
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain("wrong-secret");
    expect(await engine.ready()).toMatchObject({ ready: false });
    await engine.close();
  });
});
