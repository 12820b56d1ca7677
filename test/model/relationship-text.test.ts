import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatRelationship,
  parseMember,
  parseRelationship,
  parseSubject,
} from "../../src/model/relationship-text.ts";
import { whyNoRelationship } from "../../src/model/validation/read-relationships.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_]{1,20}[a-z0-9]$/);
const type = fc.oneof(
  name,
  fc.tuple(name, name).map(([prefix, last]) => `${prefix}/${last}`),
);
const id = fc.stringMatching(/^[a-zA-Z0-9/_|\-=+]{1,40}$/);
const subject = fc.oneof(
  fc.record({ type, id }),
  fc.record({ type, id, relation: name }),
  fc.record({ type, id: fc.constant("*") }),
);
const relationship = fc.record({ resource: fc.record({ type, id }), relation: name, subject });

test("printed text is parsed again", () => {
  fc.assert(
    fc.property(relationship, (relationship) => {
      const text = formatRelationship(relationship);
      expect(parseRelationship(text)).toEqual({ relationship });
    }),
  );
});

test("parsed text is printed again", () => {
  const text = fc.stringMatching(/^[a-z]{2,4}:[a-c*|#@.]{1,4}#[a-z]{3}@[a-z]{3}:[a-c*#.]{1,6}$/);
  fc.assert(
    fc.property(text, (text) => {
      const parsed = parseRelationship(text);
      if (parsed === undefined) return;
      expect(formatRelationship(parsed.relationship)).toBe(text.replace(/#\.\.\.$/, ""));
    }),
  );
});

describe("a relationship is parsed", () => {
  test.each([
    ["doc:a#view@user:b", { type: "user", id: "b" }],
    ["doc:a#view@user:b#...", { type: "user", id: "b" }],
    ["doc:a#view@team:b#member", { type: "team", id: "b", relation: "member" }],
    ["doc:a#view@user:*", { type: "user", id: "*" }],
    ["a_b/doc:a/b|c-d=e+f_#view@x_y/user:B", { type: "x_y/user", id: "B" }],
    [`doc:a#view@user:${"x".repeat(1024)}`, { type: "user", id: "x".repeat(1024) }],
  ])("%s", (text, subject) => {
    expect(parseRelationship(text)?.relationship.subject).toEqual(subject);
  });

  test("with its traits in brackets", () => {
    expect(parseRelationship("doc:a#view@user:b[on_duty]")?.caveat).toBe("on_duty");
    expect(parseRelationship('doc:a#view@user:b[on_duty:{"day":1}]')?.caveat).toBe("on_duty");
    const time = "2030-01-01T00:00:00Z";
    expect(parseRelationship(`doc:a#view@user:b[expiration:${time}]`)?.expiration).toBe(time);
  });
});

describe("invalid text is rejected, with the fix", () => {
  test.each([
    ["doc:a#view", "it has no @ before a subject"],
    ["doc:a@user:b", '"doc:a" has no #relation'],
    ["doc:#view@user:b", '"doc:#view" has no object id'],
    ["doc#view@user:b", '"doc#view" has no type before a colon'],
    ["doc:a#view@user", '"user" has no type before a colon'],
    ["doc:a.b#view@user:b", 'the object id "a.b" may contain only letters, digits and / _ | - = +'],
    ["doc:a#view@user:a@b", 'the object id "a@b" may contain only'],
    ["doc:a#view@user:ä", 'the object id "ä" may contain only'],
    ["Doc:a#view@user:b", '"Doc" is not a valid name of a type'],
    ["doc:a#View@user:b", '"View" is not a valid name of a relation'],
    ["doc:a#view@user:b#", '"" is not a valid name of a relation'],
    ["d:a#view@user:b", '"d" is not a valid name of a type'],
    [`doc:a#view@user:${"x".repeat(1025)}`, "an object id has 1025 characters, more than 1024"],
  ])("%s", (text, reason) => {
    expect(parseRelationship(text)).toBeUndefined();
    expect(whyNoRelationship(text)).toContain(reason);
    expect(whyNoRelationship(text)).toContain("write type:id#relation@type:id");
  });

  test.each(["doc:*#view@user:b", "doc:a#view@user:b ", "doc:a#view@user:b[on_duty", ""])(
    "%s",
    (text) => {
      expect(parseRelationship(text)).toBeUndefined();
    },
  );
});

test("members and subjects are parsed separately", () => {
  expect(parseMember("doc:a#view")).toEqual({
    resource: { type: "doc", id: "a" },
    permission: "view",
  });
  expect(parseMember("doc:*#view")).toBeUndefined();
  expect(parseMember("doc:a")).toBeUndefined();
  expect(parseSubject("user:*")).toEqual({ type: "user", id: "*" });
  expect(parseSubject("user:a#...")).toEqual({ type: "user", id: "a" });
  expect(parseSubject("user:")).toBeUndefined();
});
