import { expect, it } from "vitest";
import { createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import { allows, engineOf, relationshipOf, updateOf } from "../engine-of.ts";

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | group#member
  relation banned: user | group#member
  permission view = viewer + parent->view
  permission both = (viewer & viewer) + (parent->both & parent->view)
  permission edit = view - banned
}`;

const storeOf = (...texts: string[]) => createMemoryStore(texts.map(relationshipOf));

it.each<[what: string, text: string, message: RegExp]>([
  ["a removed type", "doc:a#viewer@user:x", /no type "doc"/],
  ["a removed relation", "folder:a#owner@user:x", /"owner"/],
  ["a relation that is a permission now", "folder:a#view@user:x", /is a permission/],
  ["a subject that the relation does not accept", "folder:a#viewer@folder:b", /does not allow/],
  ["a removed subject relation", "folder:a#viewer@group:b#admin", /"admin"/],
])("a store that the model does not allow is refused: %s", async (_, text, message) => {
  const store = storeOf("folder:a#viewer@user:x", text);
  const error = await engineOf(SCHEMA, store).catch((error) => error);
  expect(error).toMatchObject({
    code: "FAILED_PRECONDITION",
    message: expect.stringMatching(message),
  });
  expect(error.message).toContain("does not allow 1 of the stored relationships");
  // The relationship is named, whatever the reason is.
  expect(error.message).toContain(`\n- ${text}: `);
});

it("a refused store is closed, so that this process does not keep its lock", async () => {
  let closed = 0;
  const store = Object.assign(storeOf("doc:a#viewer@user:x"), {
    close: async () => {
      closed++;
      throw new Error("the disk is gone");
    },
  });
  await expect(engineOf(SCHEMA, store)).rejects.toThrow("does not allow 1 of the stored");
  expect(closed).toBe(1);
});

it("if many are not allowed, the first are named and all are counted", async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `folder:f${index}#owner@user:x`);
  const error = await engineOf(SCHEMA, storeOf(...texts)).catch((error) => error);
  expect(error).toMatchObject({
    code: "FAILED_PRECONDITION",
    message: expect.stringMatching(
      /allow 20 of .*\n {2}svc-access relationship list --store .* --misfit\n {2}svc-access relationship delete .* --yes\n- folder:f0#owner@user:x: [^]*\n- and 10 more$/,
    ),
  });
  expect(error.message.match(/folder:f\d+#owner@user:x/g)).toHaveLength(10);
});

/** Cycles that an older model may have allowed: groups and folders that contain themselves through others. */
const CYCLES = [
  "group:a#member@group:b#member",
  "group:b#member@group:c#member",
  "group:c#member@group:a#member",
  "group:c#member@user:x",
  "folder:p#parent@folder:q",
  "folder:q#parent@folder:p",
  "folder:q#viewer@group:a#member",
  "folder:p#banned@group:b#member",
];

it.each<[text: string, allowed: boolean]>([
  ["group:a#member@user:x", true],
  ["group:b#member@user:x", true],
  ["group:b#member@user:y", false],
  ["group:a#member@group:b#member", true],
  ["group:b#member@group:a#member", true],
  ["folder:p#view@user:x", true],
  ["folder:p#view@user:y", false],
  ["folder:p#edit@user:x", false],
  ["folder:q#edit@user:x", true],
  ["folder:q#both@user:x", true],
  ["folder:p#both@user:x", true],
  ["folder:p#both@user:y", false],
])("a store with cycles is evaluated: %s is %s", async (text, allowed) => {
  const engine = await engineOf(SCHEMA, storeOf(...CYCLES));
  const { resource, relation: permission, subject } = relationshipOf(text);
  expect(await allows(engine, text)).toBe(allowed);
  expect((await engine.explain({ resource, permission, subject })).allowed).toBe(allowed);
  const resources = await engine.lookupResources({
    resourceType: resource.type,
    permission,
    subject,
  });
  expect(resources.items.includes(resource.id)).toBe(allowed);
  const subjects = await engine.lookupSubjects({
    ...{ resource, permission, subjectType: subject.type },
    ...(subject.relation === undefined ? {} : { subjectRelation: subject.relation }),
  });
  expect(subjects.items.some(({ id }) => id === subject.id)).toBe(allowed);
});

it("a stored cycle can be broken, and does not prevent other writes", async () => {
  const engine = await engineOf(SCHEMA, storeOf(...CYCLES));
  await engine.writeRelationships({ updates: [updateOf("group:d#member@group:a#member")] });
  await engine.writeRelationships({
    updates: [updateOf("group:c#member@group:a#member", "DELETE")],
  });
  const again = engine.writeRelationships({ updates: [updateOf("group:c#member@group:a#member")] });
  await expect(again).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
});
