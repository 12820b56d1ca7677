import { hostname } from "node:os";
import { expect, test } from "vitest";
import { StartUpError } from "../../../src/runtime/index.ts";
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
/** An entry with every member. */
const whole = entryOf("List", {
  stream: "server_streaming",
  deprecated: true,
  exposure: "AUTHORIZED",
  authz: { action: "view", resource: "doc:{id}", audience: "user", mode: "CHECK_ONLY" },
  audit: { event: "doc.listed", riskLevel: "LOW" },
  rateLimit: { qps: 5, burst: 10 },
  http: [{ method: "POST", path: "/v1/hub/list", body: "*", responseBody: "items" }],
});

test.each([
  ["", "is not JSON"],
  ["{", "is not JSON"],
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
  ...(
    [
      [{ rpc: "hub.v1.HubService/Get/x" }, "rpc"],
      [{ rpc: "/hub.v1.HubService/Get" }, "rpc"],
      [{ stream: "none" }, "stream"],
      [{ deprecated: false }, "deprecated"],
      [{ authz: { ...whole.authz, action: "" } }, "authz.action"],
      [{ authz: { ...whole.authz, resource: undefined } }, "authz.resource"],
      [{ authz: { ...whole.authz, audience: 1 } }, "authz.audience"],
      [{ authz: { ...whole.authz, mode: "ALLOW" } }, "authz.mode"],
      [{ audit: { event: "a.b" } }, "audit.riskLevel"],
      [{ audit: { riskLevel: "LOW" } }, "audit.event"],
      [{ rateLimit: { qps: 1 } }, "rateLimit.burst"],
      [{ rateLimit: { qps: 1, burst: 0 } }, "rateLimit.burst"],
      [{ gateway: { publish: true } }, "gateway.methods"],
      [{ http: [{ method: "GET", path: "v1" }] }, "http.0.path"],
      [{ http: [{ method: "", path: "/v1" }] }, "http.0.method"],
      [{ http: [{ method: "GET", path: `/${"x".repeat(4096)}` }] }, "http.0.path"],
    ] as const
  ).map(([change, at]): [string, string] => [
    JSON.stringify({ ...whole, ...change }),
    `the entry is wrong at ${at}: `,
  ]),
])("the entry %j is refused: %s", (text, why) => {
  expect(() => parseRouteEntry(text)).toThrow(why);
});

test("an entry is read without members that a later version added", () => {
  expect(parseRouteEntry(JSON.stringify({ ...entry, later: 1 }))).toEqual(entry);
});

test("an entry with every member is read unchanged", () => {
  expect(parseRouteEntry(JSON.stringify(whole))).toEqual(whole);
});

test.each([
  ...(["unary", "server_streaming", "client_streaming", "bidi_streaming"] as const).map(
    (stream) => ({ stream }),
  ),
  ...(["PUBLIC", "AUTHENTICATED", "INTERNAL", "SYSTEM"] as const).map((exposure) => ({ exposure })),
])("an entry with %j is read as it is", (change) => {
  expect(parseRouteEntry(JSON.stringify({ ...entry, ...change }))).toEqual({ ...entry, ...change });
});

test("a document is read unchanged", () => {
  const path = { path: "/pages", match: "prefix", methods: ["GET"], exposure: "PUBLIC" } as const;
  const other = { ...path, match: "exact", exposure: "AUTHENTICATED" } as const;
  const { $schema: _, ...document } = { ...documentOf(entry, whole), paths: [path, other] };
  expect(parseRouteDocument(JSON.stringify(document))).toEqual(document);
});

test.each([
  [{ service: undefined }, "service"],
  [{ keyPrefix: 1 }, "keyPrefix"],
  [{ routes: undefined }, "routes"],
  [{ routes: [{ key: "hub/Get", entry }] }, "routes.0.key"],
  [{ routes: [{ key: "hub/a.B/Get/more", entry }] }, "routes.0.key"],
  [{ routes: [{ key: "more/hub/a.B/Get", entry }] }, "routes.0.key"],
  [{ routes: [{ key: "hub/a.B/Get", entry: {} }] }, "routes.0.entry"],
  [{ paths: [{ path: "pages", match: "exact", methods: [], exposure: "PUBLIC" }] }, "paths.0.path"],
  [{ paths: [{ path: "/x", match: "any", methods: [], exposure: "PUBLIC" }] }, "paths.0.match"],
  [{ paths: [{ path: "/x", match: "exact", exposure: "PUBLIC" }] }, "paths.0.methods"],
  [
    { paths: [{ path: "/x", match: "exact", methods: [], exposure: "INTERNAL" }] },
    "paths.0.exposure",
  ],
])("a document with %j is refused", (change, at) => {
  const text = JSON.stringify({ ...documentOf(entry), ...change });
  expect(() => parseRouteDocument(text)).toThrow(`the route document is wrong at ${at}`);
});

test("the generated document of the example is read", () => {
  const document = readRouteDocument(
    new URL("../../../examples/hub/gen/routes/hub.json", import.meta.url).pathname,
  );
  expect(document.service).toBe("hub");
  expect(document.routes.length).toBeGreaterThan(20);
});

test("a document without paths is of an earlier version", () => {
  const { paths: _, ...old } = documentOf(entry);
  expect(parseRouteDocument(JSON.stringify(old)).paths).toEqual([]);
});

test.each([
  ["/no/such/file.json", /cannot be read \(ENOENT\): run buf generate, and name/],
  [new URL(".", import.meta.url).pathname, /cannot be read \(EISDIR\): run buf generate, and name/],
  [
    new URL("documents.ts", import.meta.url).pathname,
    /the route document is not JSON: run buf generate with/,
  ],
])("the document %s is for a person to fix: it is named, and what makes it", (file, why) => {
  let error: unknown;
  try {
    readRouteDocument(file);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(StartUpError);
  expect((error as StartUpError).problems).toEqual([expect.stringMatching(why)]);
  expect((error as StartUpError).problems[0]).toContain(`the routes ${file} `);
});

test("keys are read as they are written", () => {
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
  "/svc/kernel/routes/prod/hub/hub.v1.HubService//x",
  "/svc/kernel/routes/prod/hub/hub.v1.HubService/Get/",
  "/svc/kernel/rout3s/prod/hub/hub.v1.HubService/Get/x",
  "/svc/kernel/routes/prod/",
  "",
])("%j is not a key of a route in prod", (key) => {
  expect(parseRouteKey("prod", key)).toBeUndefined();
});

test("names of processes are unique", () => {
  expect(newInstanceId()).not.toBe(newInstanceId());
  expect(newInstanceId()).toMatch(/^[A-Za-z0-9.-]{1,63}-[0-9a-f]{12}$/);
  // An operator finds the host in the keys.
  expect(newInstanceId().slice(0, -13)).toBe(
    hostname()
      .replaceAll(/[^A-Za-z0-9.-]/g, "-")
      .slice(0, 63),
  );
});

test("a document has the allowed origins of the service, by default none", () => {
  const allowedOrigins = ["https://admin.example.com", "http://localhost:3000"];
  const read = parseRouteDocument(JSON.stringify({ ...documentOf(entry), allowedOrigins }));
  expect(read.allowedOrigins).toEqual(allowedOrigins);
  expect(parseRouteDocument(JSON.stringify(documentOf(entry))).allowedOrigins).toBeUndefined();
});

test.each([
  ["*"],
  ["null"],
  [""],
  ["https://a.example/"],
  ["https://*.example"],
  ["ftp://a.example"],
  ["https://a.example https://b.example"],
  [7],
])("a document with %j as an origin is not read", (origin) => {
  const text = JSON.stringify({ ...documentOf(entry), allowedOrigins: [origin] });
  expect(() => parseRouteDocument(text)).toThrow("allowedOrigins.0");
});
