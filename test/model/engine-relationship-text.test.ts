import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OBJECT_IDS } from "../../src/model/object-id.ts";
import {
  formatRelationship,
  readReference,
  readRelationship,
} from "../../src/model/relationship-text.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_]{1,10}[a-z0-9]$/);
/** Traits in SpiceDB files never end in a letter. */
const id = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => `${text}x`);
const allowed = id.filter(OBJECT_IDS.allows);
const subject = fc.oneof(
  fc.record({ type: name, id: allowed }),
  fc.record({ type: name, id: allowed, relation: name }),
  fc.record({ type: name, id: fc.constant("*") }),
);
const relationship = fc.record({
  resource: fc.record({ type: name, id: allowed }),
  relation: name,
  subject,
});

test("printed text is parsed again, with any id that the engine allows", () => {
  fc.assert(
    fc.property(relationship, (relationship) => {
      expect(readRelationship(formatRelationship(relationship))).toEqual({ relationship });
    }),
  );
});

describe("a relationship", () => {
  test.each([
    ["item:first#owner@user:alice", "first", { type: "user", id: "alice" }],
    ["item:first#owner@user:alice#...", "first", { type: "user", id: "alice" }],
    ["item:a@b:c#owner@user:alice@example.com", "a@b:c", { type: "user", id: "alice@example.com" }],
    ["item:a@b#owner@group:x@y#member", "a@b", { type: "group", id: "x@y", relation: "member" }],
    ["item:größe.txt#owner@user:*", "größe.txt", { type: "user", id: "*" }],
    ["item:a[b#owner@user:a]", "a[b", { type: "user", id: "a]" }],
    [`item:${"x".repeat(256)}#owner@user:a`, "x".repeat(256), { type: "user", id: "a" }],
  ])("%j is read", (text, id, subject) => {
    expect(readRelationship(text)).toEqual({
      relationship: { resource: { type: "item", id }, relation: "owner", subject },
    });
  });

  test.each([
    ["", "write type:id#relation@type:id"],
    ["item", "write type"],
    ["item:first", "write type"],
    ["item:first#owner", "write type"],
    ["item:first@user:alice", "write type"],
    ["item:#owner@user:alice", "write type"],
    ["item#owner@user:alice", "write type"],
    ["item:first#@user:alice", "write type"],
    ["item:first#...@user:alice", "write type"],
    ["item:first#owner@user", "write type"],
    ["item:first#owner@user:", "write type"],
    ["item:first#owner@user:alice#", "write type"],
    ["item:first#owner@user:alice#a#b", "write type"],
    ["item:first#owner#x@user:alice", "write type"],
    ["item:first#owner@user:alice ", "write type"],
    ["item:first#owner@user:al\nice", "write type"],
    ["Item:first#owner@user:alice", "write type"],
    ["item:*#owner@user:alice", "an id is 1 to 256 bytes"],
    ["item:*#owner@user:*", "an id is 1 to 256 bytes"],
    ["item:a*#owner@user:alice", "an id is 1 to 256 bytes"],
    ["item:first#owner@user:a\u0000", "an id is 1 to 256 bytes"],
    [`item:first#owner@user:${"x".repeat(257)}`, "an id is 1 to 256 bytes"],
    ["item:first#owner@user:alice[on_duty]", "it has a caveat or an expiration"],
    ['item:first#owner@user:alice[on_duty:{"day":1}]', "it has a caveat or an expiration"],
    [
      "item:first#owner@user:alice[expiration:2030-01-01T00:00:00Z]",
      "it has a caveat or an expiration",
    ],
  ])("%j is rejected, with the fix", (text, why) => {
    expect(readRelationship(text).problem).toContain(`is not a valid relationship: ${why}`);
  });

  test("of any length is rejected with a short message", () => {
    expect(readRelationship("x".repeat(1e6)).problem?.length).toBeLessThan(1000);
  });
});

test.each([
  ["item", { type: "item" }],
  ["a/item:x", { type: "a/item", id: "x" }],
  ["group:a@b#member", { type: "group", id: "a@b", relation: "member" }],
  ["", undefined],
  ["item:", undefined],
  ["item#member", undefined],
  ["item:a b", undefined],
])("the reference %j", (text, expected) => {
  expect(readReference(text)).toEqual(expected);
});
