import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Expander } from "../../../src/authz/validation/expand.ts";
import { type Model, parseModel } from "../../../src/model/index.ts";
import type { Relationship } from "../../../src/model/relationship.ts";
import { parseRelationship } from "../../../src/model/relationship-text.ts";
import { blockingRelationships, diffModels } from "../../../src/model/validation/diff-models.ts";
import { compareInclusions } from "../../../src/model/validation/inclusion.ts";
import { readRelationships } from "../../../src/model/validation/read-relationships.ts";

function modelOf(text: string): Model {
  const { model, diagnostics } = parseModel(text, "model.zed");
  expect(diagnostics).toEqual([]);
  return model;
}

/** A model of documents in folders. */
function documents(view: string, more = ""): Model {
  return modelOf(`
    definition user {}
    definition folder {
      relation owner: user
      relation viewer: user
      permission view = owner + viewer
    }
    definition doc {
      relation parent: folder
      relation owner: user
      relation editor: user
      relation viewer: user
      relation banned: user
      ${more}
      permission edit = owner + editor
      permission view = ${view}
    }`);
}

/** The effect of a change of `view`. */
function effectOf(before: string, after: string): string | undefined {
  const changes = diffModels(documents(before), documents(after));
  expect(changes.map(({ name }) => name)).toEqual(changes.length === 0 ? [] : ["doc#view"]);
  return changes[0]?.effect;
}

describe("a change of an expression", () => {
  test.each([
    ["viewer", "viewer", undefined],
    ["viewer", "viewer + editor", "widens"],
    ["viewer + editor", "viewer", "narrows"],
    ["viewer", "viewer & editor", "narrows"],
    ["viewer", "viewer - banned", "narrows"],
    ["viewer - banned", "viewer", "widens"],
    ["viewer - (banned + editor)", "viewer - banned", "widens"],
    ["viewer - banned", "viewer - (banned & editor)", "widens"],
    ["viewer", "editor", "unclear"],
    ["viewer + editor", "editor + viewer", "none"],
    ["viewer + edit", "viewer + owner + editor", "none"],
    ["viewer + owner", "viewer + edit", "widens"],
    ["viewer", "viewer + parent->view", "widens"],
    ["viewer + parent->view", "viewer + parent->owner", "unclear"],
    ["viewer + parent->view", "viewer + parent.all(view)", "unclear"],
    ["nil", "viewer", "widens"],
    ["viewer", "nil", "narrows"],
    ["viewer & (editor + owner)", "viewer & editor", "narrows"],
  ])("from %s to %s: %s", (before, after, effect) => {
    expect(effectOf(before, after)).toBe(effect);
  });
});

test("permissions that refer to changed members are affected", () => {
  const folders = (view: string) =>
    modelOf(`
      definition user {}
      definition folder {
        relation parent: folder
        relation owner: user
        relation viewer: user
        permission view = ${view} + parent->view
      }
      definition doc {
        relation parent: folder
        relation banned: user
        permission view = parent->view
        permission hidden = banned - parent->view
      }`);
  const changes = diffModels(folders("owner"), folders("owner + viewer"));
  expect(changes.map(({ name, change, effect }) => `${change} ${name} ${effect}`)).toEqual([
    "changed folder#view widens",
    "affected doc#view widens",
    "affected doc#hidden narrows",
  ]);
});

test("added and removed definitions, relations, subjects and permissions", () => {
  const before = modelOf(`
    definition user {}
    definition team {
      relation member: user
    }
    definition robot {}
    definition doc {
      relation owner: user
      relation viewer: user | team#member
      permission view = viewer + owner
      permission edit = owner
    }`);
  const after = modelOf(`
    definition user {}
    definition team {
      relation member: user
    }
    definition doc {
      relation viewer: user | user:*
      relation author: user
      permission view = viewer
      permission publish = author
    }`);
  const changes = diffModels(before, after);
  expect(changes.map(({ kind, change, name, effect }) => [kind, change, name, effect])).toEqual([
    ["definition", "removed", "robot", "narrows"],
    ["relation", "removed", "doc#owner", "narrows"],
    ["subject", "removed", "doc#viewer: team#member", "narrows"],
    ["subject", "added", "doc#viewer: user:*", "widens"],
    ["relation", "added", "doc#author", "widens"],
    ["permission", "changed", "doc#view", "unclear"],
    ["permission", "removed", "doc#edit", "narrows"],
    ["permission", "added", "doc#publish", "widens"],
  ]);
  const stored = readRelationships(
    "doc:a#viewer@user:b\ndoc:a#viewer@team:t#member\ndoc:a#owner@user:b\nteam:t#member@user:b\n",
    "stored.txt",
  );
  const blockers = blockingRelationships(after, stored);
  expect(blockers.map(({ relationship, reason }) => [relationship.position.line, reason])).toEqual([
    [2, "doc#viewer does not accept team#member; it accepts user, user:*"],
    [3, "doc has no relation or permission owner"],
  ]);
});

// A reported widening must be true for all relationships.
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "owner",
      "editor",
      "viewer",
      "banned",
      "edit",
      "parent->view",
      "parent.all(view)",
      "nil",
    ),
    fc
      .tuple(tie("any"), fc.constantFrom("+", "&", "-"), tie("any"))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
  ),
})).any;

const stored = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom("owner", "editor", "viewer", "banned", "parent", "fowner"), fc.nat(2))
    .map(([relation, index]) =>
      relation === "parent"
        ? `doc:a#parent@folder:f${index}`
        : relation === "fowner"
          ? `folder:f${index}#owner@user:u${index}`
          : `doc:a#${relation}@user:u${index}`,
    ),
);

test("an inclusion holds for all relationships", () => {
  fc.assert(
    fc.property(expression, expression, stored, (before, after, texts) => {
      const [left, right] = [documents(before), documents(after)];
      const relationships = texts.map(
        (text) => parseRelationship(text)?.relationship as Relationship,
      );
      const holders = (model: Model) => {
        const expander = new Expander(model, relationships);
        const set = expander.expand({ resource: { type: "doc", id: "a" }, permission: "view" });
        return new Set(set.members().map(({ subject }) => subject.id));
      };
      const { forward, backward } = compareInclusions(left, right);
      const [old, now] = [holders(left), holders(right)];
      if (forward.has("doc#view")) for (const id of old) expect(now).toContain(id);
      if (backward.has("doc#view")) for (const id of now) expect(old).toContain(id);
    }),
    { numRuns: 2_000 },
  );
});
