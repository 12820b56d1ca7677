import { expect, test } from "vitest";
import {
  parseRouteDocument,
  parseRouteEntry,
  readRouteDocument,
} from "../../../src/runtime/registry/index.ts";
import {
  newInstanceId,
  parseRouteKey,
  routeKey,
} from "../../../src/runtime/registry/route-keys.ts";
import { documentOf, entryOf } from "./documents.ts";

const entry = entryOf("Get");

test.each([
  ["", "is no JSON"],
  ["{", "is no JSON"],
  ["null", "version none"],
  ["[]", "version none"],
  ["1", "version none"],
  [JSON.stringify({ ...entry, schemaVersion: "1" }), "version none"],
  [JSON.stringify({ ...entry, schemaVersion: 99 }), "version 99, not 1"],
  [JSON.stringify({ ...entry, rpc: "no-method" }), "at rpc"],
  [JSON.stringify({ ...entry, exposure: "public" }), "at exposure"],
  [JSON.stringify({ ...entry, exposure: "AUTHORIZED" }), "if, and only if"],
  [
    JSON.stringify({
      ...entry,
      authz: { action: "a", resource: "t:*", audience: "user", mode: "CHECK_ONLY" },
    }),
    "if, and only if",
  ],
  [JSON.stringify({ ...entry, rateLimit: { qps: 0, burst: 1 } }), "at rateLimit.qps"],
  [JSON.stringify({ ...entry, http: undefined }), "at http"],
  [JSON.stringify({ ...entry, gateway: { publish: "yes", methods: [] } }), "at gateway.publish"],
])("the entry %j is refused: %s", (text, why) => {
  expect(() => parseRouteEntry(text)).toThrow(why);
});

test("an entry is read, with what a later writer has added left out", () => {
  expect(parseRouteEntry(JSON.stringify({ ...entry, later: 1 }))).toEqual(entry);
});

test("the generated document of the example is read", () => {
  const document = readRouteDocument(
    new URL("../../../examples/hub/gen/routes/hub.json", import.meta.url).pathname,
  );
  expect(document.service).toBe("hub");
  expect(document.routes.length).toBeGreaterThan(20);
});

test("a document without paths is one of before they were in it", () => {
  const { paths: _, ...old } = documentOf(entry);
  expect(parseRouteDocument(JSON.stringify(old)).paths).toEqual([]);
});

test.each([
  ["/no/such/file.json", "cannot be read (ENOENT)"],
  [new URL("documents.ts", import.meta.url).pathname, "is no JSON"],
])("the document %s is refused", (file, why) => {
  expect(() => readRouteDocument(file)).toThrow(why);
});

test("a key is read as it is written", () => {
  const key = routeKey("prod", "hub/hub.v1.HubService/Get", "host-1");
  expect(key).toBe("/svc/kernel/routes/prod/hub/hub.v1.HubService/Get/host-1");
  expect(parseRouteKey("prod", key)).toEqual({
    service: "hub",
    rpc: "hub.v1.HubService/Get",
    instance: "host-1",
  });
});

test.each([
  "/svc/kernel/routes/other/hub/hub.v1.HubService/Get/x",
  "/svc/kernel/routes/prod/hub/hub.v1.HubService/Get",
  "/svc/kernel/routes/prod/hub/hub.v1.HubService/Get/x/y",
  "/svc/kernel/routes/prod/hub//Get/x",
  "/svc/kernel/routes/prod/",
  "",
])("%j is no key of a route in prod", (key) => {
  expect(parseRouteKey("prod", key)).toBeUndefined();
});

test("no two processes have the same name", () => {
  expect(newInstanceId()).not.toBe(newInstanceId());
  expect(newInstanceId()).toMatch(/^[A-Za-z0-9.-]+-[0-9a-f]{12}$/);
});
