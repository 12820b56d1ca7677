import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import ajvFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load-config.ts";
import { ROOT } from "../support/workspace.ts";
import { fullPlatform, platformWith } from "./sample.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The schema with which editors complete and check `svc-access.yaml`. */
const ajv = new Ajv({ strict: false, allErrors: true });
ajvFormats.default(ajv);
const schema: Schema = JSON.parse(read("schemas/svc-access.schema.json"));
const validate = ajv.compile(schema);

/** The parts of a JSON Schema that are read. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The keys of a schema that none of these values has: `services.hub.model` as `services.*.model`. */
function* lacking(part: Schema, values: readonly unknown[], path = ""): Iterable<string> {
  const maps = values.filter((value) => typeof value === "object" && value !== null);
  for (const [name, below] of Object.entries(part.properties ?? {})) {
    const own = maps
      .map((map) => (map as Readonly<Record<string, unknown>>)[name])
      .filter((value) => value !== undefined);
    if (own.length === 0) yield `${path}${name}`;
    else yield* lacking(below, own, `${path}${name}.`);
  }
  const { additionalProperties: entry, items, anyOf = [] } = part;
  const entries = maps.flatMap((map) => Object.values(map));
  if (typeof entry === "object") yield* lacking(entry, entries, `${path}*.`);
  if (items !== undefined) yield* lacking(items, entries, `${path}*.`);
  for (const one of anyOf) yield* lacking(one, values, path);
}

const errorsOf = (value: unknown) => {
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

test("the sample of these tests has every key of the schema", () => {
  // A frontend of another login has audiences, and of two kinds of backends it has one.
  expect([...lacking(schema, [fullPlatform()])]).toEqual([
    "frontends.*.audiences",
    "frontends.*.backend.backend",
  ]);
  expect([...lacking(schema, [{ environment: "test" }])]).toContain("services");
});

describe("the schema of svc-access.yaml [CONF-4]", () => {
  test("accepts a configuration that has every key", () => {
    expect(errorsOf(fullPlatform())).toEqual([]);
  });

  test("accepts the example as it is written, with its variables", () => {
    expect(errorsOf(parse(read("examples/hub/svc-access.yaml")))).toEqual([]);
  });

  test.each([
    ["environmnt", "x"],
    ["services.hub.package", []],
    ["services.hub.authn_mode", "none"],
    ["services.Hub", { packages: ["a.v1"] }],
    ["frontends.web.client_id", undefined],
    ["paths[0].exposure", "SYSTEM"],
  ])("refuses what the loader refuses: %s of %j", (place, value) => {
    const text = platformWith(place, value);
    expect(errorsOf(JSON.parse(text))).not.toEqual([]);
    expect(loadConfig(text, "svc-access.yaml", {}).loaded).toBeUndefined();
  });
});

describe("the schema of a frontend with login: bearer", () => {
  const { host, namespace, services, client_id } = fullPlatform().frontends.web;
  const bearer = { host, namespace, services, login: "bearer", audiences: ["cli"] };
  const errors = (web: object) => errorsOf({ ...fullPlatform(), frontends: { web } });

  test("accepts one without a client", () => {
    expect(errors(bearer)).toEqual([]);
  });

  test.each<[string, object]>([
    ["a client", { ...bearer, client_id }],
    ["pages", { ...bearer, backend: fullPlatform().frontends.web.backend }],
    ["no audiences", { ...bearer, audiences: undefined }],
    ["a login", { ...bearer, login: "session" }],
  ])("refuses one with %s, as the loader does", (_name, web) => {
    expect(errors(JSON.parse(JSON.stringify(web)))).not.toEqual([]);
  });
});

test("the loader accepts the example", () => {
  const result = loadConfig(read("examples/hub/svc-access.yaml"), "svc-access.yaml", {});
  expect(result).toHaveProperty("loaded");
});
