import { expect, it } from "vitest";
import type { AuthorizationEngine, Change } from "../../../src/authz/engine.ts";
import { engineOf, subjectOf, updateOf, writeAll } from "./engine-of.ts";

const SCHEMA = `definition user {}
definition doc {
  relation reader: user | user:*
  relation banned: user
  permission view = reader - banned
}`;

const subject = subjectOf("user:x");
const lookup = { resourceType: "doc", permission: "view", subject, pageSize: 1 };
const check = { resource: { type: "doc", id: "a" }, permission: "view", subject };

async function engineWithDocs(): Promise<AuthorizationEngine> {
  const engine = await engineOf(SCHEMA);
  await writeAll(engine, ["doc:a#reader@user:x", "doc:b#reader@user:*", "doc:b#banned@user:y"]);
  return engine;
}

it("a cursor is of one request and one revision", async () => {
  const engine = await engineWithDocs();
  const { nextCursor: cursor = "" } = await engine.lookupResources(lookup);
  expect((await engine.lookupResources({ ...lookup, cursor })).items).toEqual(["b"]);
  const refusals = [
    [{ ...lookup, cursor: "nonsense" }, "INVALID_ARGUMENT"],
    [{ ...lookup, permission: "reader", cursor }, "INVALID_ARGUMENT"],
    [{ ...lookup, pageSize: 0 }, "INVALID_ARGUMENT"],
    [{ ...lookup, pageSize: 1001 }, "INVALID_ARGUMENT"],
  ] as const;
  for (const [request, code] of refusals) {
    await expect(engine.lookupResources(request)).rejects.toMatchObject({ code });
  }
  await writeAll(engine, ["doc:c#reader@user:x"]);
  const code = "OUT_OF_RANGE";
  await expect(engine.lookupResources({ ...lookup, cursor })).rejects.toMatchObject({ code });
});

it("a wildcard is listed with those it does not stand for, and is no subject", async () => {
  const engine = await engineWithDocs();
  const resource = { type: "doc", id: "b" };
  const page = await engine.lookupSubjects({ resource, permission: "view", subjectType: "user" });
  expect(page.items).toEqual([{ id: "*", excluded: ["y"] }]);
  const request = { ...check, subject: { type: "user", id: "*" } };
  const code = "INVALID_ARGUMENT";
  await expect(engine.check(request)).rejects.toMatchObject({ code });
  const { items } = await engine.checkBulk([request, check]);
  expect(items).toEqual([{ error: expect.objectContaining({ code }) }, { allowed: true }]);
});

it("a revision is of one store, and not of the future", async () => {
  const engine = await engineWithDocs();
  const other = await engineWithDocs();
  const { revision } = await engine.check(check);
  expect((await engine.check(check, { atLeastAsFresh: revision })).revision).toBe(revision);
  const later = Buffer.from(
    Buffer.from(revision, "base64url").toString().replace(":embedded:1:", ":embedded:9:"),
  ).toString("base64url");
  const refusals = [
    [(await other.check(check)).revision, "INVALID_ARGUMENT"],
    [`${revision}!`, "INVALID_ARGUMENT"],
    ["", "INVALID_ARGUMENT"],
    [later, "FAILED_PRECONDITION"],
  ] as const;
  for (const [atLeastAsFresh, code] of refusals) {
    await expect(engine.check(check, { atLeastAsFresh })).rejects.toMatchObject({ code });
  }
});

it("changes are watched from a revision, and as they happen", async () => {
  const engine = await engineOf(SCHEMA);
  const { revision } = await engine.check(check);
  await writeAll(engine, ["doc:a#reader@user:x"]);
  const abort = new AbortController();
  const seen: Change[] = [];
  const watching = (async () => {
    for await (const change of engine.watch(revision, { signal: abort.signal })) {
      seen.push(change);
      if (seen.length === 1) await writeAll(engine, ["doc:b#reader@user:x"]);
      if (seen.length === 2) setTimeout(() => abort.abort());
    }
  })();
  await expect(watching).rejects.toMatchObject({ code: "CANCELLED" });
  expect(seen.map(({ updates }) => updates)).toEqual([
    [updateOf("doc:a#reader@user:x")],
    [updateOf("doc:b#reader@user:x")],
  ]);
});

it("signals, the end and models that it cannot evaluate", async () => {
  const engine = await engineWithDocs();
  const signal = AbortSignal.abort();
  await expect(engine.check(check, { signal })).rejects.toMatchObject({ code: "CANCELLED" });
  const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
  const code = "DEADLINE_EXCEEDED";
  await expect(engine.check(check, { signal: late })).rejects.toMatchObject({ code });
  expect(await engine.ready()).toEqual({ ready: true });
  await engine.close();
  expect(await engine.ready()).toMatchObject({ ready: false });
  await expect(engine.check(check)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const caveated = `caveat odd(n int) { n == 1 }
definition user {}
definition doc {
  relation reader: user with odd
}`;
  await expect(engineOf(caveated)).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
});

it("an explanation names the relationship that decides, or all that was tried", async () => {
  const engine = await engineWithDocs();
  const { explanation } = await engine.explain(check);
  expect(explanation).toMatchObject({
    kind: "exclusion",
    allowed: true,
    children: [
      { permission: "reader", allowed: true, relationship: { relation: "reader" } },
      { permission: "banned", allowed: false, children: [] },
    ],
  });
});
