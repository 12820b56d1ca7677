import { describe, expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import type { WriteRequest } from "../../../src/authz/engine/requests.ts";
import { failure } from "./calls.ts";
import { updates } from "./schema.ts";
import type { Opened } from "./target.ts";

const touching = (...texts: string[]): WriteRequest => ({ updates: updates("TOUCH", ...texts) });
const good = touching("document:b-w#viewer@user:x");
const many = (count: number) =>
  touching(...Array.from({ length: count }, (_, index) => `document:b-w#viewer@user:u${index}`));
const preconditions = (count: number, filter = {}): WriteRequest => ({
  ...good,
  preconditions: Array.from({ length: count }, () => ({ kind: "MUST_NOT_MATCH", filter })),
});
/** A write of a resource and a subject that text cannot express. */
const raw = (resource: unknown, subject: unknown = { type: "user", id: "x" }) =>
  ({
    updates: [{ operation: "TOUCH", relationship: { resource, relation: "viewer", subject } }],
  }) as WriteRequest;
const resource = { type: "document", id: "b-w" };

const BAD: readonly [what: string, message: RegExp, request: WriteRequest][] = [
  ["no updates", /at least one/, { updates: [] }],
  ["updates that are missing", /at least one/, {} as WriteRequest],
  ["1,001 updates", /at most 1000 updates, not 1001/, many(1001)],
  ["1,001 preconditions", /at most 1000 preconditions, not 1001/, preconditions(1001)],
  [
    "an unknown operation",
    /CREATE, TOUCH or DELETE, not "UPSERT"/,
    {
      updates: [{ ...updates("TOUCH", "team:b#member@user:x")[0], operation: "UPSERT" }],
    } as never,
  ],
  [
    "an unknown precondition",
    /MUST_MATCH or MUST_NOT_MATCH, not "MAY"/,
    { ...good, preconditions: [{ kind: "MAY", filter: {} }] } as never,
  ],
  ["an empty resource id", /resource id ""/, raw({ type: "document", id: "" })],
  ["an empty subject id", /subject id ""/, raw(resource, { type: "user", id: "" })],
  ["a resource id that is not text", /resource id number/, raw({ type: "document", id: 7 })],
  ["a resource that is missing", /resource is missing/, raw(undefined)],
  ["a subject that is missing", /subject is missing/, raw(resource, null)],
  ["white space", /subject id "x y"/, raw(resource, { type: "user", id: "x y" })],
  ["a line break", /resource id "a\\nb"/, raw({ type: "document", id: "a\nb" })],
  ["a NUL", /resource id/, raw({ type: "document", id: "a\0" })],
  ["a lone surrogate", /resource id/, raw({ type: "document", id: "\ud800" })],
  ["a hash", /resource id "a#b"/, raw({ type: "document", id: "a#b" })],
  ["257 bytes", /1 to 256 bytes/, raw({ type: "document", id: `${"é".repeat(128)}x` })],
  ["a wildcard resource", /resource id "\*"/, raw({ type: "document", id: "*" })],
  ["an invalid id and type: the id is reported", /resource id ""/, raw({ type: "nope", id: "" })],
  ["an unknown type", /no type "nope"/, touching("nope:a#viewer@user:x")],
  ["a type in another case", /no type "Document"/, touching("Document:a#viewer@user:x")],
  [
    "a property of every JavaScript object as a type",
    /no type "__proto__"/,
    touching("__proto__:a#viewer@user:x"),
  ],
  ["an unknown relation", /no relation or permission "nope"/, touching("document:a#nope@user:x")],
  [
    "a misspelt relation, with the relationship and the nearest name",
    /^document:a#viewr@user:x: the type "document" has no relation or permission "viewr"; did you mean "viewer"\?$/,
    touching("document:b#viewer@user:x", "document:a#viewr@user:x"),
  ],
  [
    "a name near a permission, which it does not suggest, since that cannot be written",
    /^document:a#viw@user:x: the type "document" has no relation or permission "viw"(; did you mean "(?!view")\w+"\?)?$/,
    touching("document:a#viw@user:x"),
  ],
  [
    "a misspelt subject type, with the relationship and the nearest name",
    /^document:a#viewer@usr:x: the model has no type "usr"; did you mean "user"\?$/,
    touching("document:a#viewer@usr:x"),
  ],
  ["an unknown subject type", /no type "nope"/, touching("document:a#viewer@nope:x")],
  ["an unknown subject relation", /"nope"/, touching("document:a#viewer@team:x#nope")],
  [
    "an empty subject relation",
    /no relation or permission ""/,
    raw(resource, { type: "team", id: "x", relation: "" }),
  ],
  ["a permission", /"view" is a permission/, touching("document:a#view@user:x")],
  ["a subject type not allowed", /does not allow/, touching("document:a#approver@team:x")],
  ["a userset not allowed", /does not allow/, touching("document:a#approver@team:x#member")],
  ["an object for a userset", /does not allow/, touching("document:a#viewer@team:x")],
  ["a wildcard not allowed", /does not allow/, touching("document:a#approver@user:*")],
  ["a wildcard userset", /wildcard has no relation/, touching("document:a#viewer@team:*#member")],
  [
    "a DELETE of a relationship that the model does not allow",
    /does not allow/,
    { updates: updates("DELETE", "document:a#approver@user:*") },
  ],
  [
    "a CREATE of a relationship that the model does not allow",
    /is a permission/,
    { updates: updates("CREATE", "document:a#view@user:x") },
  ],
  [
    "the same relationship twice",
    /the write contains document:b-w#viewer@user:x twice/,
    touching("document:b-w#viewer@user:x", "document:b-w#viewer@user:x"),
  ],
  [
    "the same relationship touched and deleted",
    /twice/,
    { updates: [...good.updates, ...updates("DELETE", "document:b-w#viewer@user:x")] },
  ],
  [
    "a valid relationship before an invalid one",
    /no type "nope"/,
    touching("document:b-w#viewer@user:x", "nope:a#viewer@user:x"),
  ],
  ["a precondition with an empty filter", /filter of a precondition is empty/, preconditions(1)],
  ["a precondition on an invalid id", /resource id/, preconditions(1, { resourceId: "a b" })],
  [
    "a precondition on an unknown type",
    /no type "nope"/,
    preconditions(1, { resourceType: "nope" }),
  ],
  [
    "a precondition on an unknown relation",
    /relation "nope"/,
    preconditions(1, { relation: "nope" }),
  ],
];

/** Writes that are never valid. */
export function badWritesContract(opened: Opened): void {
  describe("a write that is never valid is refused entirely", () => {
    test.each(BAD)("%s", async (_, message, request) => {
      const { engine } = opened();
      const error = await failure(engine.writeRelationships(request));
      expect(error).toBeInstanceOf(AuthzError);
      expect(error).toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringMatching(message),
      });
      const filter = { resourceType: "document", resourceId: "b-w" };
      expect((await engine.readRelationships(filter)).items).toEqual([]);
    });
  });
}
