import { describe, expect, test } from "vitest";
import type { Change, Page } from "../../../src/authz/engine.ts";
import type { Relationship } from "../../../src/authz/relationship.ts";
import { spicedbIsAbsent } from "../../support/spicedb.ts";
import { engineOf, relationship, request, SCHEMA, updates, useSpicedb } from "./fixture.ts";

describe.skipIf(spicedbIsAbsent())("the SpiceDB engine, on a real SpiceDB", () => {
  const spicedb = useSpicedb(SCHEMA);
  const write = (...texts: string[]) =>
    spicedb.engine.writeRelationships({ updates: updates("TOUCH", ...texts) });
  const allowed = async (text: string) => (await spicedb.engine.check(request(text))).allowed;

  test("decides what it wrote, with ids that SpiceDB does not know", async () => {
    const { revision } = await write("document:a.b@é#viewer@user:alice@example.org");
    const options = { atLeastAsFresh: revision };
    const asked = request("document:a.b@é#view@user:alice@example.org");
    expect((await spicedb.engine.check(asked, options)).allowed).toBe(true);
    expect(await allowed("document:a.b@é#view@user:alice")).toBe(false);
    const { items } = await spicedb.engine.readRelationships({
      resourceType: "document",
      resourceId: "a.b@é",
    });
    expect(items).toEqual([relationship("document:a.b@é#viewer@user:alice@example.org")]);
  });

  test("a userset holds itself", async () => {
    expect(await allowed("group:any#member@group:any#member")).toBe(true);
  });

  test("refuses to create what exists, and a precondition that fails", async () => {
    const text = "document:once#viewer@user:alice";
    const create = { updates: updates("CREATE", text) };
    await spicedb.engine.writeRelationships(create);
    await expect(spicedb.engine.writeRelationships(create)).rejects.toMatchObject({
      name: "AuthzError",
      code: "ALREADY_EXISTS",
    });
    const filter = { resourceType: "document", resourceId: "once", relation: "viewer" };
    const removal = { updates: updates("DELETE", text) };
    await expect(
      spicedb.engine.writeRelationships({
        ...removal,
        preconditions: [{ kind: "MUST_NOT_MATCH", filter }],
      }),
    ).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await spicedb.engine.writeRelationships({
      ...removal,
      preconditions: [{ kind: "MUST_MATCH", filter }],
    });
    await spicedb.engine.writeRelationships(removal);
    expect(await allowed("document:once#view@user:alice")).toBe(false);
  });

  test("bulk checks agree with checks, in order, also where asked twice or invalid", async () => {
    await write("document:bulk#viewer@user:*", "document:bulk#banned@user:eve");
    const texts = ["alice", "eve", "alice", "bob"].map((id) => `document:bulk#view@user:${id}`);
    const requests = [...texts.map(request), request("document:bulk#nothing@user:alice")];
    const { items } = await spicedb.engine.checkBulk(requests);
    expect(items.slice(0, 4).map(({ allowed }) => allowed)).toEqual([true, false, true, true]);
    expect(items[4]?.error).toMatchObject({ code: "INVALID_ARGUMENT" });
    const many = Array.from({ length: 1200 }, (_, index) =>
      request(`document:bulk#view@user:${index % 3 === 0 ? "eve" : `u${index}`}`),
    );
    const bulk = await spicedb.engine.checkBulk(many);
    expect(bulk.items.map(({ allowed }) => allowed)).toEqual(
      many.map((_, index) => index % 3 !== 0),
    );
    expect((await spicedb.engine.checkBulk([])).revision).not.toBe("");
  });

  test("lookups are sorted, paged at one state, and agree with checks", async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `p.${String(index).padStart(2, "0")}`);
    await write(
      "folder:root#viewer@group:pats#member",
      ...ids.map((id) => `document:${id}#folder@folder:root`),
      "document:p.00#viewer@group:pats#member",
    );
    const { resource: _, ...subject } = request("document:x#view@group:pats#member");
    const lookup = { resourceType: "document", ...subject };
    for (const pageSize of [1, 7, 25, 1000]) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await spicedb.engine.lookupResources({
          ...lookup,
          pageSize,
          ...(cursor === undefined ? {} : { cursor }),
        });
        found.push(...page.items);
        cursor = page.nextCursor;
        if (cursor !== undefined) expect(page.items).toHaveLength(pageSize);
      } while (cursor !== undefined);
      expect(found).toEqual(ids);
    }
    const first = await spicedb.engine.lookupResources({ ...lookup, pageSize: 20 });
    await write("document:p.zz#viewer@group:pats#member");
    const cursor = first.nextCursor ?? "";
    const second = await spicedb.engine.lookupResources({ ...lookup, pageSize: 20, cursor });
    expect([...first.items, ...second.items]).toEqual(ids);
    // The cursor pins the state also where nothing is kept in memory.
    const other = await engineOf(spicedb.server, SCHEMA);
    expect((await other.lookupResources({ ...lookup, pageSize: 20, cursor })).items).toEqual(
      second.items,
    );
    await other.close();
  });

  test("subjects are found, wildcards with what they exclude", async () => {
    await write(
      "document:open#viewer@user:*",
      "document:open#viewer@user:carol@x",
      "document:open#banned@user:eve.1",
      "document:open#banned@user:adam",
    );
    const lookup = {
      resource: { type: "document", id: "open" },
      permission: "view",
      subjectType: "user",
    };
    const { items, nextCursor } = await spicedb.engine.lookupSubjects(lookup);
    expect(items).toEqual([
      { id: "*", excluded: ["adam", "eve.1"] },
      { id: "carol@x", excluded: [] },
    ]);
    expect(nextCursor).toBeUndefined();
    const first = await spicedb.engine.lookupSubjects({ ...lookup, pageSize: 1 });
    const rest = { ...lookup, pageSize: 1, cursor: first.nextCursor ?? "" };
    expect((await spicedb.engine.lookupSubjects(rest)).items).toEqual(items.slice(1));
  });

  test("relationships are read in pages, and an empty listing has a revision", async () => {
    const texts = Array.from({ length: 10 }, (_, index) => `group:paged#member@user:u${index}`);
    await write(...texts, "group:paged#member@group:other#member");
    const filter = { resourceType: "group", resourceId: "paged" };
    const found: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await spicedb.engine.readRelationships(filter, {
        pageSize: 4,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found).toHaveLength(11);
    const users = { ...filter, subject: { type: "user", relation: "" } };
    const exact = await spicedb.engine.readRelationships(users, { pageSize: 10 });
    expect(exact.items).toHaveLength(10);
    expect(exact.nextCursor).toBeUndefined();
    const impossible = { relation: "approver", subject: { type: "group" } };
    expect((await spicedb.engine.readRelationships(impossible)).items).toEqual([]);
    const all = async (pageSize: number) => {
      const found: Relationship[] = [];
      let cursor: string | undefined;
      do {
        const page: Page<Relationship> = await spicedb.engine.readRelationships(
          {},
          { pageSize, ...(cursor === undefined ? {} : { cursor }) },
        );
        found.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return found;
    };
    const paged = await all(7);
    expect(paged).toEqual(await all(1000));
    expect(paged).toContainEqual(relationship("group:paged#member@group:other#member"));
    const none = await spicedb.engine.readRelationships({ ...filter, resourceId: "none" });
    expect(none.items).toEqual([]);
    const options = { atLeastAsFresh: none.revision };
    await spicedb.engine.check(request("group:paged#member@user:u1"), options);
  });

  test("refuses a write that closes a cycle, naming the path", async () => {
    await write("group:c1#member@group:c2#member", "group:c2#member@group:c3#member");
    await expect(write("group:c3#member@group:c1#member")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringContaining(
        "group:c3#member > group:c1#member > group:c2#member > group:c3#member",
      ),
    });
    await expect(
      write("folder:x#parent@folder:y", "folder:y#parent@folder:x"),
    ).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await expect(write("group:self#member@group:self#member")).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
    });
    // Opened and closed elsewhere in one write: no cycle at its end.
    await spicedb.engine.writeRelationships({
      updates: [
        ...updates("DELETE", "group:c1#member@group:c2#member"),
        ...updates("TOUCH", "group:c3#member@group:c1#member"),
      ],
    });
  });

  test("explains what allows and what was tried", async () => {
    await write(
      "document:why#viewer@group:why#member",
      "group:why#member@user:wendy",
      "document:why#banned@user:bob",
    );
    const granted = await spicedb.engine.explain(request("document:why#view@user:wendy"));
    expect(granted).toMatchObject({ allowed: true, explanation: { kind: "union", allowed: true } });
    const exclusion = granted.explanation.children[0];
    expect(exclusion).toMatchObject({ kind: "exclusion", allowed: true });
    expect(exclusion?.children[0]).toMatchObject({
      kind: "relation",
      relationship: relationship("document:why#viewer@group:why#member"),
      children: [{ relationship: relationship("group:why#member@user:wendy") }],
    });
    const denied = await spicedb.engine.explain(request("document:why#view@user:bob"));
    expect(denied).toMatchObject({
      allowed: false,
      explanation: {
        allowed: false,
        children: [{ kind: "exclusion" }, { kind: "arrow", children: [] }],
      },
    });
  });

  test("tells of changes as they happen, and goes on behind a revision", async () => {
    const start = await write("group:w#member@user:before");
    const stop = new AbortController();
    const seen: Change[] = [];
    const watching = (async () => {
      const changes = spicedb.engine.watch(start.revision, { signal: stop.signal });
      for await (const change of changes) {
        seen.push(change);
        if (seen.length === 2) return;
      }
    })();
    await write("group:w#member@user:one");
    await spicedb.engine.writeRelationships({
      updates: updates("DELETE", "group:w#member@user:one"),
    });
    await watching;
    expect(seen.map(({ updates }) => updates)).toEqual([
      updates("TOUCH", "group:w#member@user:one"),
      updates("DELETE", "group:w#member@user:one"),
    ]);
    for await (const change of spicedb.engine.watch(seen[0]?.revision)) {
      expect(change.updates).toEqual(seen[1]?.updates);
      break;
    }
    const cancelled = spicedb.engine.watch(undefined, { signal: stop.signal });
    const next = cancelled[Symbol.asyncIterator]().next();
    stop.abort();
    await expect(next).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("refuses a revision or cursor that is not its own", async () => {
    const asked = request("document:a#view@user:alice");
    const check = (atLeastAsFresh: string) => spicedb.engine.check(asked, { atLeastAsFresh });
    await expect(check("nonsense")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(
      spicedb.engine.readRelationships({ resourceType: "group" }, { cursor: "nonsense" }),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
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

  test("a key that SpiceDB refuses is no decision, and is not shown", async () => {
    const engine = await engineOf({ ...spicedb.server, token: "wrong-secret" }, SCHEMA);
    const failure = await engine.check(request("document:a#view@user:alice")).catch((e) => e);
    expect(failure).toMatchObject({ code: "UNAVAILABLE" });
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain("wrong-secret");
    expect(await engine.ready()).toMatchObject({ ready: false });
    await engine.close();
  });
});

describe.skipIf(spicedbIsAbsent())("what SpiceDB 1.54 errs in", () => {
  const spicedb = useSpicedb(`use self
definition user {}
definition folder {
  relation banned: user | folder
  permission view = banned & self
  permission alone = self & banned
}`);

  test("subjects found too many of `self` are not shown, and no resources are UNIMPLEMENTED", async () => {
    await spicedb.engine.writeRelationships({
      updates: updates("TOUCH", "folder:one#banned@folder:two", "folder:own#banned@folder:own"),
    });
    for (const id of ["one", "own"]) {
      const { items } = await spicedb.engine.lookupSubjects({
        resource: { type: "folder", id },
        permission: "view",
        subjectType: "folder",
      });
      expect(items.map(({ id }) => id)).toEqual(id === "own" ? ["own"] : []);
    }
    await expect(
      spicedb.engine.lookupResources({
        resourceType: "folder",
        permission: "alone",
        subject: { type: "folder", id: "none" },
      }),
    ).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });
});
