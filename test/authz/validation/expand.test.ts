import { expect, test } from "vitest";
import { Expander } from "../../../src/authz/validation/expand.ts";
import { parseModel } from "../../../src/model/index.ts";
import { formatSubjectReference, parseMember } from "../../../src/model/relationship-text.ts";
import { readRelationships } from "../../../src/model/validation/read-relationships.ts";

const { model } = parseModel(
  `definition user {}
   definition group {
     relation member: user | group#member
   }
   definition doc {
     relation parent: doc
     relation viewer: user | user:* | group#member
     relation allowed: user | user:*
     relation banned: user | user:* | group#member
     permission view = viewer
     permission other = viewer - banned
     permission both = viewer & allowed
     permission any = viewer + allowed
     permission twice = viewer - (banned - allowed)
     permission narrow = (viewer - banned) & (viewer - allowed)
     permission upward = viewer + parent->upward
     permission every = parent.all(view)
   }`,
  "model.zed",
);

/** The subjects of a permission, as an expected relation writes them. */
function expand(member: string, relationships: string): string[] {
  const stored = readRelationships(relationships.replaceAll(" ", "\n"), "stored.txt");
  const expander = new Expander(
    model,
    stored.map(({ relationship }) => relationship),
  );
  const parsed = parseMember(member);
  if (parsed === undefined) throw new Error(member);
  return expander
    .expand(parsed)
    .members()
    .map(({ subject, paths, excluded }) => {
      const rest = excluded.length === 0 ? "" : ` - ${excluded.map(formatSubjectReference).join()}`;
      return `${formatSubjectReference(subject)}${rest} is ${[...paths].sort().join()}`;
    });
}

test.each([
  ["doc:a#view", "doc:a#viewer@user:x doc:b#viewer@user:y", ["user:x is doc:a#viewer"]],
  [
    "doc:a#view",
    "doc:a#viewer@group:g#member group:g#member@group:h#member group:h#member@user:x group:g#member@user:x",
    [
      "group:g#member is doc:a#viewer",
      "group:h#member is group:g#member",
      "user:x is group:g#member,group:h#member",
    ],
  ],
  [
    "doc:a#other",
    "doc:a#viewer@user:* doc:a#viewer@user:x doc:a#viewer@user:y doc:a#banned@user:x",
    ["user:* - user:x is doc:a#viewer", "user:y is doc:a#viewer"],
  ],
  ["doc:a#other", "doc:a#viewer@user:* doc:a#banned@user:*", []],
  ["doc:a#other", "doc:a#viewer@user:x doc:a#banned@user:*", []],
  [
    "doc:a#other",
    "doc:a#viewer@group:g#member group:g#member@user:x doc:a#banned@user:x",
    ["group:g#member is doc:a#viewer"],
  ],
  // A subject that the subtracted wildcard excludes stays.
  [
    "doc:a#twice",
    "doc:a#viewer@user:* doc:a#banned@user:* doc:a#allowed@user:x",
    ["user:x is doc:a#allowed"],
  ],
  [
    "doc:a#both",
    "doc:a#viewer@user:* doc:a#allowed@user:x doc:a#viewer@user:y",
    ["user:x is doc:a#allowed,doc:a#viewer"],
  ],
  [
    "doc:a#both",
    "doc:a#viewer@user:* doc:a#allowed@user:*",
    ["user:* is doc:a#allowed,doc:a#viewer"],
  ],
  [
    "doc:a#any",
    "doc:a#viewer@user:x doc:a#allowed@user:*",
    ["user:* is doc:a#allowed", "user:x is doc:a#viewer"],
  ],
  [
    "doc:a#narrow",
    "doc:a#viewer@user:* doc:a#banned@user:x doc:a#allowed@user:y",
    ["user:* - user:x,user:y is doc:a#viewer"],
  ],
  ["doc:a#upward", "doc:a#parent@doc:b doc:b#viewer@user:x", ["user:x is doc:b#viewer"]],
  ["doc:a#every", "doc:b#viewer@user:x", []],
  [
    "doc:a#every",
    "doc:a#parent@doc:b doc:a#parent@doc:c doc:b#viewer@user:x doc:c#viewer@user:x doc:c#viewer@user:y",
    ["user:x is doc:b#viewer,doc:c#viewer"],
  ],
  ["doc:a#nothing", "doc:a#viewer@user:x", []],
])("%s over %s", (member, relationships, expected) => {
  expect(expand(member, relationships)).toEqual(expected);
});
