import { describe, expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { CheckRequest } from "../../../src/authz/engine/requests.ts";
import { failure } from "./calls.ts";
import { request } from "./schema.ts";
import type { Opened } from "./target.ts";

const good = request("document:a#view@user:x");
const base64 = (text: string) => Buffer.from(text).toString("base64url");

/** Invalid objects, permissions and subjects, which check, explain and both lookups refuse. */
const BAD: readonly [what: string, message: RegExp, request: CheckRequest][] = [
  ["white space", /resource id "a b"/, request("document:a b#view@user:x")],
  ["an empty id", /resource id ""/, { ...good, resource: { type: "document", id: "" } }],
  ["a missing id", /id undefined/, { ...good, resource: { type: "document" } as never }],
  ["a missing resource", /resource is missing/, { ...good, resource: undefined as never }],
  ["a missing subject", /subject is missing/, { ...good, subject: null as never }],
  ["257 bytes", /1 to 256 bytes/, request(`document:${"x".repeat(257)}#view@user:x`)],
  ["a bad subject id", /subject id "x y"/, request("document:a#view@user:x y")],
  ["a wildcard resource", /resource id "\*"/, request("document:*#view@user:x")],
  ["a wildcard subject", /wildcard cannot be the subject/, request("document:a#view@user:*")],
  ["a wildcard userset", /wildcard cannot/, request("document:a#view@team:*#member")],
  ["an unknown type", /no type "nope"/, request("nope:a#view@user:x")],
  ["an unknown permission", /no relation or permission "nope"/, request("document:a#nope@user:x")],
  ["an empty permission", /no relation or permission ""/, { ...good, permission: "" }],
  ["an unknown subject type", /no type "nope"/, request("document:a#view@nope:x")],
  [
    "an unknown subject relation",
    /type "team" has no relation or permission "nope"/,
    request("document:a#view@team:x#nope"),
  ],
  [
    "an empty subject relation",
    /no relation or permission ""/,
    { ...good, subject: { type: "team", id: "x", relation: "" } },
  ],
];

const CURSORS: readonly unknown[] = [
  "",
  "nonsense",
  "%%%",
  base64("null"),
  base64("[]"),
  base64("{"),
  7,
];
const PAGE_SIZES = [0, -1, 1001, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1"];

type Listing = (engine: AuthorizationEngine, page: object) => Promise<unknown>;
const LISTINGS: readonly [name: string, list: Listing][] = [
  [
    "lookupResources",
    (engine, page) => engine.lookupResources({ ...good, resourceType: "document", ...page }),
  ],
  [
    "lookupSubjects",
    (engine, page) => engine.lookupSubjects({ ...good, subjectType: "user", ...page }),
  ],
  [
    "readRelationships",
    (engine, page) => engine.readRelationships({ resourceType: "document" }, page),
  ],
  ["readRelationships of all", (engine, page) => engine.readRelationships({}, page)],
];

/** Reads that are never valid. */
export function badRequestsContract(opened: Opened): void {
  const expectRefused = async (call: Promise<unknown>, message: RegExp) => {
    const error = await failure(call);
    expect(error).toBeInstanceOf(AuthzError);
    expect(error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(message),
    });
  };

  describe("a request that is never valid is refused", () => {
    test.each(BAD)("%s", async (_, message, request) => {
      const { engine } = opened();
      const { resource, permission, subject } = request;
      await expectRefused(engine.check(request), message);
      await expectRefused(engine.explain(request), message);
      const { items } = await engine.checkBulk([request, good]);
      expect(items).toEqual([
        {
          error: expect.objectContaining({
            name: "AuthzError",
            code: "INVALID_ARGUMENT",
            message: expect.stringMatching(message),
          }),
        },
        { allowed: false },
      ]);
      if (/wildcard cannot|subject/.test(`${message}`) || resource?.id === good.resource.id) {
        const resourceType = resource.type;
        await expectRefused(engine.lookupResources({ resourceType, permission, subject }), message);
      }
      if (subject === good.subject || `${message}`.includes("resource")) {
        await expectRefused(
          engine.lookupSubjects({ resource, permission, subjectType: "user" }),
          message,
        );
      }
    });

    test.each(LISTINGS)("%s of an invalid page", async (_, list) => {
      const { engine } = opened();
      for (const pageSize of PAGE_SIZES) {
        await expectRefused(list(engine, { pageSize }), /a page has 1 to 1000 results/);
      }
      for (const cursor of CURSORS) {
        await expectRefused(list(engine, { cursor }), /cursor is malformed/);
      }
    });

    test("subjects of an unknown type or relation", async () => {
      const { engine } = opened();
      const lookup = { ...good, subjectType: "team" };
      await expectRefused(engine.lookupSubjects({ ...lookup, subjectType: "nope" }), /"nope"/);
      const subjectRelation = "nope";
      await expectRefused(engine.lookupSubjects({ ...lookup, subjectRelation }), /"nope"/);
    });

    test.each([
      [{ resourceType: "nope" }, /no type "nope"/],
      [{ resourceType: "" }, /no type ""/],
      [{ resourceType: "document", relation: "nope" }, /has no relation "nope"/],
      [{ resourceType: "document", relation: "view" }, /has no relation "view"/],
      [{ relation: "nope" }, /no type has a relation "nope"/],
      [{ relation: "" }, /no type has a relation ""/],
      [{ resourceId: "a b" }, /resource id "a b"/],
      [{ resourceType: "document", resourceId: "*" }, /resource id "\*"/],
      [{ subject: { type: "nope" } }, /no type "nope"/],
      [{ subject: { type: "user", id: "" } }, /subject id ""/],
      [{ subject: { type: "team", relation: "nope" } }, /"nope"/],
    ])("the filter %j", async (filter, message) => {
      await expectRefused(opened().engine.readRelationships(filter), message);
    });
  });
}
