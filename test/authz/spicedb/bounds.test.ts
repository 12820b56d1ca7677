import { v1 } from "@authzed/authzed-node";
import { afterEach, describe, expect, test } from "vitest";
import type { Change } from "../../../src/authz/engine/requests.ts";
import { revisionOf } from "../../../src/authz/spicedb/client/tokens.ts";
import { createSpicedbEngine, type SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { ListingCache } from "../../../src/authz/spicedb/lookup/lookups.ts";
import {
  type FakeAnswer,
  type FakeSpicedb,
  newestState,
  startFakeSpicedb,
  zedToken,
} from "./fake-spicedb.ts";
import { modelOf, relationship, SCHEMA, updates } from "./fixture.ts";

let fake: FakeSpicedb | undefined;
let engine: SpicedbEngine | undefined;
afterEach(async () => {
  await engine?.close();
  await fake?.close();
});

async function open(answer: (method: string, message: Uint8Array) => FakeAnswer) {
  fake = await startFakeSpicedb((method, message) =>
    method === "ReadSchema" ? newestState("start") : answer(method, message),
  );
  const { endpoint } = fake;
  const model = modelOf(SCHEMA);
  engine = await createSpicedbEngine({
    ...{ endpoint, token: "key", insecure: true, model },
    deadlineMs: 30_000,
  });
  return engine;
}

const lookedUpAt = { token: zedToken("looked up") };

describe("a lookup of more than 100,000 results is RESOURCE_EXHAUSTED, however many there are", () => {
  test("resources", async () => {
    let sent = 0;
    const messages = function* () {
      for (; ; sent++) {
        yield v1.LookupResourcesResponse.toBinary({
          lookedUpAt,
          resourceObjectId: `d${sent}`,
          permissionship: v1.LookupPermissionship.HAS_PERMISSION,
        });
      }
    };
    const engine = await open(() => ({ messages: messages() }));
    const subject = { type: "user", id: "x" };
    const lookup = engine.lookupResources({
      resourceType: "document",
      permission: "view",
      subject,
    });
    await expect(lookup).rejects.toMatchObject({
      name: "AuthzError",
      code: "RESOURCE_EXHAUSTED",
      message: "there are more than 100000 results",
    });
    expect(sent).toBeGreaterThan(100_000);
  });

  test("subjects", async () => {
    const messages = function* () {
      for (let index = 0; ; index++) {
        const { HAS_PERMISSION: permissionship } = v1.LookupPermissionship;
        const found = { subjectObjectId: `u${index}`, permissionship };
        const message = v1.LookupSubjectsResponse.create({ lookedUpAt });
        message.subject = v1.ResolvedSubject.create(found);
        yield v1.LookupSubjectsResponse.toBinary(message);
      }
    };
    const engine = await open(() => ({ messages: messages() }));
    const resource = { type: "document", id: "a" };
    const lookup = engine.lookupSubjects({ resource, permission: "view", subjectType: "user" });
    await expect(lookup).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });
});

describe("the cache of listings", () => {
  test("keeps the last 8", () => {
    const cache = new ListingCache();
    for (let index = 0; index < 9; index++) cache.set([index], "token", ["item"]);
    expect(cache.get([0], "token")).toBeUndefined();
    expect(cache.get([1], "token")).toEqual(["item"]);
    expect(cache.get([1], "another state")).toBeUndefined();
  });

  test("keeps 200,000 items in total, even of few listings", () => {
    const cache = new ListingCache();
    const items = Array.from({ length: 90_000 }, () => "item");
    for (let index = 0; index < 3; index++) cache.set([index], "token", items);
    expect([0, 1, 2].map((index) => cache.get([index], "token")?.length)).toEqual([
      undefined,
      90_000,
      90_000,
    ]);
    for (let again = 0; again < 5; again++) cache.set([2], "token", items);
    expect(cache.get([1], "token")).toHaveLength(90_000);
  });
});

test("a watch whose stream reaches its time limit continues after its last report", async () => {
  const started: string[] = [];
  const one = (id: string) =>
    v1.WatchResponse.toBinary(
      v1.WatchResponse.create({
        changesThrough: { token: zedToken(id) },
        updates: [
          {
            operation: v1.RelationshipUpdate_Operation.TOUCH,
            relationship: {
              resource: { objectType: "document", objectId: id },
              relation: "viewer",
              subject: { object: { objectType: "user", objectId: "x" }, optionalRelation: "" },
            },
          },
        ],
      }),
    );
  const engine = await open((_, message) => {
    const start = v1.WatchRequest.fromBinary(message).optionalStartCursor?.token ?? "";
    started.push(start);
    if (started.length === 1) return { messages: [one("a"), one("b")], status: 4 };
    if (started.length === 2) return { messages: [], status: 4 };
    if (started.length === 3) return { messages: [one("c")], instead: "silence" };
    return { status: 14, details: "one more than there should be" };
  });
  const seen: Change[] = [];
  for await (const change of engine.watch(revisionOf(zedToken("from")))) {
    seen.push(change);
    if (seen.length === 3) break;
  }
  expect(seen.map(({ updates }) => updates)).toEqual(
    ["a", "b", "c"].map((id) => updates("TOUCH", `document:${id}#viewer@user:x`)),
  );
  expect(started).toEqual(["from", "b", "b"].map(zedToken));
  expect(relationship("document:c#viewer@user:x")).toEqual(seen[2]?.updates[0]?.relationship);
});
