/** The files for middleware in other languages conform to their published schema, which rejects wrong ones. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

const SCHEMA = "schemas/policies.schema.json";
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const schema = read(SCHEMA);
const validate = new Ajv2020({
  strictRequired: false,
  strictTypes: false,
  allErrors: true,
}).compile(schema);
/** All committed files. */
const COMMITTED = globSync("{examples,test}/**/gen/policies.json", {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
});

test("the examples and the fixtures are among the committed files", () => {
  expect(COMMITTED).toEqual(
    expect.arrayContaining([
      "examples/hub/gen/policies.json",
      "examples/notes/gen/policies.json",
      "test/runtime/fixture/gen/policies.json",
    ]),
  );
});

test.each(COMMITTED)("%s conforms to the schema that it names", (path) => {
  const document = read(path);
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  expect(document.$schema).toBe(schema.$id);
});

test("the example in the page conforms to it, too", () => {
  const page = readFileSync(join(ROOT, "docs/policies.md"), "utf8");
  const [, json = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
  expect(validate(JSON.parse(json)), JSON.stringify(validate.errors)).toBe(true);
  const shown = read("examples/notes/gen/policies.json").policies["notes.v1.NotesService/SetItem"];
  expect(JSON.parse(json).policies).toEqual({ "notes.v1.NotesService/SetItem": shown });
});

test("the page describes each field of the schema", () => {
  const page = readFileSync(join(ROOT, "docs/policies.md"), "utf8");
  const { policy } = schema.$defs;
  for (const [name, field] of Object.entries<{ properties?: object }>(policy.properties)) {
    for (const inner of Object.keys(field.properties ?? {})) {
      expect(page).toContain(`\`${name}.${inner}\``);
    }
    if (field.properties === undefined) expect(page).toContain(`| \`${name}\` |`);
  }
  for (const name of Object.keys(schema.properties)) expect(page).toContain(`| \`${name}\` |`);
  for (const exposure of policy.properties.exposure.enum) {
    expect(page).toContain(`| \`${exposure}\` |`);
  }
});

describe("a wrong document is rejected", () => {
  const gateway = { publish: true, methods: ["GET"] };
  const authz = { action: "read", resource: "item:{id}", audience: "user", mode: "CHECK_ONLY" };
  const AUTHORIZED = { exposure: "AUTHORIZED", authz, gateway };
  const INTERNAL = { exposure: "INTERNAL", gateway: { publish: false, methods: [] } };
  const document = (policy: object, rpc = "a.v1.B/C") => ({
    formatVersion: 1,
    policies: { [rpc]: policy },
  });
  const resource = (text: string) =>
    document({ ...AUTHORIZED, authz: { ...authz, resource: text } });

  test.each<[string, object]>([
    ["AUTHORIZED", document(AUTHORIZED)],
    ["INTERNAL", document(INTERNAL)],
    ["no RPC", { formatVersion: 1, policies: {} }],
    ["any object", resource("item:*")],
    ["literals and placeholders", resource("a/item:x-{a.b_c}/{name.1}:{principal.email}")],
  ])("but not %s", (_, valid) => {
    expect(validate(valid), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each<[string, unknown]>([
    ["a list", []],
    ["no version", { policies: {} }],
    ["another version", { formatVersion: 2, policies: {} }],
    ["no policies", { formatVersion: 1 }],
    ["a field beside them", { formatVersion: 1, policies: {}, extra: 1 }],
    ["a name with a slash in front", document(AUTHORIZED, "/a.v1.B/C")],
    ["a name without a service", document(AUTHORIZED, "C")],
    ["no exposure", document({ gateway })],
    ["an unknown exposure", document({ exposure: "ANYBODY", gateway })],
    ["no gateway", document({ exposure: "PUBLIC" })],
    ["an unknown field", document({ exposure: "PUBLIC", gateway, unless: "x" })],
    ["AUTHORIZED without authz", document({ exposure: "AUTHORIZED", gateway })],
    ["authz of another exposure", document({ ...AUTHORIZED, exposure: "AUTHENTICATED" })],
    ["an unknown mode", document({ ...AUTHORIZED, authz: { ...authz, mode: "OR" } })],
    ["no audience", document({ ...AUTHORIZED, authz: { ...authz, audience: "" } })],
    ["INTERNAL at the edge", document({ ...INTERNAL, gateway })],
    ["SYSTEM at the edge", document({ exposure: "SYSTEM", gateway })],
    [
      "methods that nothing routes",
      document({ exposure: "PUBLIC", gateway: { ...gateway, publish: false } }),
    ],
    ["no burst", document({ exposure: "PUBLIC", gateway, rateLimit: { qps: 1 } })],
    ["a limit of zero", document({ exposure: "PUBLIC", gateway, rateLimit: { qps: 0, burst: 1 } })],
    ["half a call", document({ exposure: "PUBLIC", gateway, rateLimit: { qps: 1.5, burst: 2 } })],
    ["an event of one word", document({ ...INTERNAL, audit: { event: "read", riskLevel: "LOW" } })],
    ["an unknown risk", document({ ...INTERNAL, audit: { event: "a.b", riskLevel: "NONE" } })],
    ["a resource without a type", resource("{id}")],
    ["a resource without an id", resource("item:")],
    ["a star in an id", resource("item:a*")],
    ["a relation in an id", resource("item:a#b")],
    ["white space in an id", resource("item:a b")],
    ["a placeholder without a name", resource("item:{}")],
    ["a placeholder without an end", resource("item:{id")],
  ])("%s", (_, bad) => {
    expect(validate(bad)).toBe(false);
  });
});

test("the package ships the schema", () => {
  expect(read("package.json").files).toContain("schemas");
});
