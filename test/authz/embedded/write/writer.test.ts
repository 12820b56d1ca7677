import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import { AuthzError } from "../../../../src/authz/engine/authz-error.ts";
import type { WriteRequest } from "../../../../src/authz/engine/requests.ts";
import { allows, engineOf, relationshipOf, updateOf, writeAll } from "../engine-of.ts";

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition doc {
  relation parent: doc
  relation reader: user | user:* | group#member
  relation owner: user
  permission view = reader + owner + parent->view
}`;

const write = (...texts: string[]): WriteRequest => ({
  updates: texts.map((text) => updateOf(text)),
});

describe("a write is refused", () => {
  const mustMatch = (kind: "MUST_MATCH" | "MUST_NOT_MATCH", resourceId: string): WriteRequest => ({
    ...write("doc:b#owner@user:x"),
    preconditions: [{ kind, filter: { resourceType: "doc", resourceId } }],
  });
  const many = (count: number) =>
    write(...Array.from({ length: count }, (_, index) => `doc:d${index}#owner@user:x`));
  it.each<[what: string, code: string, message: RegExp, request: WriteRequest]>([
    ["without updates", "INVALID_ARGUMENT", /at least one/, { updates: [] }],
    ["with 1,001 updates", "INVALID_ARGUMENT", /at most 1000 updates/, many(1001)],
    [
      "with 1,001 preconditions",
      "INVALID_ARGUMENT",
      /at most 1000 preconditions/,
      {
        ...write("doc:b#owner@user:x"),
        preconditions: Array.from({ length: 1001 }, () => ({
          kind: "MUST_MATCH" as const,
          filter: {},
        })),
      },
    ],
    ["an empty resource id", "INVALID_ARGUMENT", /resource id ""/, write("doc:#owner@user:x")],
    ["white space in an id", "INVALID_ARGUMENT", /subject id "x y"/, write("doc:a#owner@user:x y")],
    [
      "an id of 257 bytes",
      "INVALID_ARGUMENT",
      /1 to 256 bytes/,
      write(`doc:${"é".repeat(129)}#owner@user:x`),
    ],
    ["a wildcard resource", "INVALID_ARGUMENT", /resource id/, write("doc:*#owner@user:x")],
    [
      "an invalid id and type: the id is reported",
      "INVALID_ARGUMENT",
      /resource id/,
      write("nope:#owner@user:x"),
    ],
    ["an unknown type", "INVALID_ARGUMENT", /no type "nope"/, write("nope:a#owner@user:x")],
    ["an unknown relation", "INVALID_ARGUMENT", /"nope"/, write("doc:a#nope@user:x")],
    ["an unknown subject type", "INVALID_ARGUMENT", /no type "nope"/, write("doc:a#owner@nope:x")],
    [
      "an unknown subject relation",
      "INVALID_ARGUMENT",
      /"nope"/,
      write("doc:a#reader@group:x#nope"),
    ],
    ["a permission", "INVALID_ARGUMENT", /is a permission/, write("doc:a#view@user:x")],
    [
      "a type not allowed",
      "INVALID_ARGUMENT",
      /does not allow this subject; it allows user$/,
      write("doc:a#owner@group:x"),
    ],
    [
      "a userset not allowed",
      "INVALID_ARGUMENT",
      /does not allow/,
      write("doc:a#owner@group:x#member"),
    ],
    [
      "an object for a userset",
      "INVALID_ARGUMENT",
      /does not allow/,
      write("doc:a#reader@group:x"),
    ],
    ["a wildcard not allowed", "INVALID_ARGUMENT", /does not allow/, write("doc:a#owner@user:*")],
    [
      "a wildcard userset",
      "INVALID_ARGUMENT",
      /wildcard has no relation/,
      write("doc:a#reader@group:*#member"),
    ],
    [
      "a DELETE of a relationship that the model does not allow",
      "INVALID_ARGUMENT",
      /does not allow/,
      { updates: [updateOf("doc:a#owner@user:*", "DELETE")] },
    ],
    [
      "the same relationship twice",
      "INVALID_ARGUMENT",
      /twice/,
      { updates: [updateOf("doc:b#owner@user:x"), updateOf("doc:b#owner@user:x", "DELETE")] },
    ],
    [
      "a CREATE of what exists",
      "ALREADY_EXISTS",
      /doc:a#owner@user:x exists/,
      { updates: [updateOf("doc:b#owner@user:x"), updateOf("doc:a#owner@user:x", "CREATE")] },
    ],
    ["a MUST_MATCH that fails", "FAILED_PRECONDITION", /MUST_MATCH/, mustMatch("MUST_MATCH", "b")],
    [
      "a MUST_NOT_MATCH that fails",
      "FAILED_PRECONDITION",
      /MUST_NOT_MATCH/,
      mustMatch("MUST_NOT_MATCH", "a"),
    ],
    [
      "a group in itself",
      "FAILED_PRECONDITION",
      /group:c#member > group:c#member/,
      write("group:c#member@group:c#member"),
    ],
    [
      "a cycle of groups",
      "FAILED_PRECONDITION",
      /group:b#member > group:a#member > group:b#member/,
      write("group:b#member@group:a#member"),
    ],
    [
      "a cycle of parents",
      "FAILED_PRECONDITION",
      /doc:q#view > doc:p#view > doc:q#view/,
      write("doc:q#parent@doc:p"),
    ],
    [
      "a cycle within the updates",
      "FAILED_PRECONDITION",
      /cycle/,
      write(
        "group:m#member@group:n#member",
        "group:n#member@group:o#member",
        "group:o#member@group:m#member",
      ),
    ],
  ])("%s", async (_, code, message, request) => {
    const engine = await engineOf(SCHEMA);
    await writeAll(engine, [
      "doc:a#owner@user:x",
      "group:a#member@group:b#member",
      "doc:p#parent@doc:q",
    ]);
    const before = await engine.readRelationships({});
    const error = await engine.writeRelationships(request).catch((error) => error);
    expect(error).toBeInstanceOf(AuthzError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await engine.readRelationships({})).toEqual(before);
  });
});

it("TOUCH is idempotent, and DELETE of nothing does nothing", async () => {
  const engine = await engineOf(SCHEMA);
  await writeAll(engine, ["doc:a#owner@user:x"]);
  await writeAll(engine, ["doc:a#owner@user:x"]);
  await engine.writeRelationships({ updates: [updateOf("doc:z#owner@user:x", "DELETE")] });
  expect((await engine.readRelationships({})).items).toHaveLength(1);
});

it("a cycle that the same write breaks is allowed", async () => {
  const engine = await engineOf(SCHEMA);
  await writeAll(engine, ["group:a#member@group:b#member"]);
  await engine.writeRelationships({
    updates: [
      updateOf("group:a#member@group:b#member", "DELETE"),
      updateOf("group:b#member@group:a#member"),
    ],
  });
  expect(await allows(engine, "group:b#member@group:a#member")).toBe(true);
});

it("chains may have any length", async () => {
  const length = 100_000;
  const chain = Array.from({ length }, (_, index) => [
    `group:g${index}#member@group:g${index + 1}#member`,
    `node:n${index}#parent@node:n${index + 1}`,
  ]);
  const texts = [
    ...chain.flat(),
    `group:g${length}#member@user:x`,
    `node:n${length}#reader@user:x`,
  ];
  const schema = `${SCHEMA}
definition node {
  relation parent: node
  relation reader: user
  permission view = (reader & reader) + parent->view
  permission most = reader + (parent->most & parent->most)
}`;
  const engine = await engineOf(schema, createMemoryStore(texts.map(relationshipOf)));
  for (const text of ["group:g0#member@user:", "node:n0#view@user:", "node:n0#most@user:"]) {
    expect(await allows(engine, `${text}x`), text).toBe(true);
    expect(await allows(engine, `${text}y`), text).toBe(false);
  }
  const error = await engine
    .writeRelationships(write(`group:g${length}#member@group:g0#member`))
    .catch((error) => error);
  expect(error).toMatchObject({
    code: "FAILED_PRECONDITION",
    message: expect.stringContaining("more …"),
  });
});

it("the store's sequence decides whether a failed commit happened", async () => {
  for (const committed of [true, false]) {
    const store = createMemoryStore();
    const engine = await engineOf(SCHEMA, store);
    const commit = store.commit.bind(store);
    store.commit = async (updates) => {
      if (committed) await commit(updates);
      throw new AuthzError("UNAVAILABLE", "the connection broke");
    };
    const result = await engine
      .writeRelationships(write("doc:a#owner@user:x"))
      .catch((error) => error);
    expect(result).toMatchObject(
      committed ? { revision: expect.anything() } : { code: "UNAVAILABLE" },
    );
    expect(await allows(engine, "doc:a#view@user:x")).toBe(committed);
    store.commit = commit;
    await engine.writeRelationships(write("doc:b#owner@user:x"));
    expect(await allows(engine, "doc:b#view@user:x")).toBe(true);
  }
});
