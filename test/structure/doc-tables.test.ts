/** The tables of pages that are written by hand name all that the code declares, and nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import {
  CORS_REQUEST_HEADERS,
  EXPOSED_HEADERS,
  RPC_EXPOSED_HEADERS,
  RPC_REQUEST_HEADERS,
} from "../../src/api/cors-headers.ts";
import { SILENT } from "../../src/common/logger.ts";
import { TARGETS } from "../../src/compiler/targets.ts";
import { configSchema } from "../../src/config/config.ts";
import { createMetrics, type Metrics } from "../../src/runtime/observers/metrics/metrics.ts";
import { RemovalMetrics } from "../../src/runtime/removals/removal-metrics.ts";
import { ROOT } from "../support/workspace.ts";

/** The rows of the first table of a page whose first column has this head, a list of cells each. */
function tableOf(page: string, head: string): string[][] {
  const lines = readFileSync(join(ROOT, "docs", page), "utf8").split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rows = lines.slice(begin + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end).map((line) => line.split(/(?<!\\)\|/).slice(1, -1));
}

/** The words in backticks of a text. */
const namesIn = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

/** With those that a service passes on. */
function withRemovals(metrics: Metrics): Metrics {
  const removals = new RemovalMetrics({ pending: async () => new Map() });
  removals.expect("note");
  for (const metric of removals.all) metrics.service(metric, SILENT);
  return metrics;
}

describe("the metrics of docs/operations.md", () => {
  const rows = tableOf("operations.md", "metric");

  test("are those that a server declares", async () => {
    const { body } = await withRemovals(createMetrics({ process: false })).text();
    const declared = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    expect(declared.length).toBeGreaterThan(10);
    expect(rows.map(([metric]) => namesIn(metric)[0]).sort()).toEqual(declared.sort());
  });

  test("have the labels of what is counted, and the outcomes that are there from the start", async () => {
    const metrics = withRemovals(createMetrics({ process: false }));
    // Those of a name are there once it is.
    metrics.events.authentication("jwt", "identified");
    metrics.events.cache("jwt", "hit");
    metrics.events.rateLimited("a.B/C");
    metrics.unrouted("http", "RESOURCE_NOT_FOUND");
    metrics.databasePool("audit", () => ({ used: 1, idle: 1, waiting: 1 }));
    const { body } = await metrics.text();
    const series = [...body.matchAll(/^(\w+)\{(.*)\} /gm)];
    expect(series.length).toBeGreaterThan(20);
    for (const [, metric, labels = ""] of series) {
      const [, described = ""] = rows.find(([name]) => namesIn(name)[0] === metric) ?? [];
      for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="(.*?)"/g)) {
        expect(namesIn(described), `${metric} in docs/operations.md`).toContain(label);
        if (label !== "outcome" && label !== "state") continue;
        expect(described, `${metric} in docs/operations.md`).toContain(value);
      }
    }
  });
});

test("docs/configuration.md has the headers of CORS, by purpose", () => {
  const rows = tableOf("configuration.md", "headers").map((cells) => cells.slice(1).map(namesIn));
  expect(rows).toEqual([
    [CORS_REQUEST_HEADERS, EXPOSED_HEADERS],
    [RPC_REQUEST_HEADERS, RPC_EXPOSED_HEADERS],
  ]);
});

/** What is read of a JSON Schema. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The keys of a schema: `services.packages` for `services.<name>.packages`, `paths.match` for `paths[].match`. */
function* keysOf(schema: Schema, path: string): Iterable<string> {
  const { properties = {}, additionalProperties: entry, items, anyOf = [] } = schema;
  for (const [name, part] of Object.entries(properties)) {
    const key = path === "" ? name : `${path}.${name}`;
    yield key;
    yield* keysOf(part, key);
  }
  if (typeof entry === "object") yield* keysOf(entry, path);
  if (items !== undefined) yield* keysOf(items, path);
  for (const part of anyOf) yield* keysOf(part, path);
}

/** What has the keys of another row, and says so. */
const AS_ANOTHER = ["frontends.backend"];

describe("the keys of svc-access.yaml in docs/configuration.md", () => {
  const rows = new Map(
    tableOf("configuration.md", "key").map(([key, ...cells]) => [
      (namesIn(key)[0] ?? "").replaceAll(/\.<name>|\[\]/g, ""),
      cells.join(),
    ]),
  );
  const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-7" }) as Schema;
  const keys = new Set(keysOf(schema, ""));

  /** Whether rows are of the keys below it. */
  const isPart = (key: string) => [...rows.keys()].some((row) => row.startsWith(`${key}.`));

  /** Whether a key has a row, or stands in that of the key above it. What stands there needs no more. */
  const isDescribed = (key: string): boolean => {
    if (rows.has(key) || isPart(key)) return true;
    const [, above = "", name = ""] = /^(.*)\.(.*)$/.exec(key) ?? [];
    if (above === "") return false;
    const row = rows.get(above);
    if (row === undefined) return !isPart(above) && isDescribed(above);
    return AS_ANOTHER.includes(above) || namesIn(row).includes(name);
  };

  test("are those of its schema", () => {
    expect(rows.size).toBeGreaterThan(30);
    expect([...rows.keys()].filter((key) => !keys.has(key))).toEqual([]);
  });

  test("are all of its schema", () => {
    expect(keys.size).toBeGreaterThan(80);
    expect([...keys].filter((key) => !isDescribed(key))).toEqual([]);
  });
});

describe("the limits of docs/operations.md", () => {
  const schema: Schema = JSON.parse(
    readFileSync(join(ROOT, "schemas/service.schema.json"), "utf8"),
  );
  const keys = [...keysOf(schema, "")];
  const named = tableOf("operations.md", "limit").flatMap(([, , key]) => namesIn(key));

  /** `…_grace_ns` is the end of the key, `database.*` names all of a section. */
  const isNamed = (key: string) =>
    named.some((name) =>
      name.startsWith("…")
        ? key.endsWith(name.slice(1))
        : name.endsWith(".*")
          ? key.startsWith(name.slice(0, -1))
          : key === name,
    );

  test("name keys of service.yaml", () => {
    expect(named.length).toBeGreaterThan(15);
    const exact = named.filter((name) => !name.startsWith("…") && !name.endsWith(".*"));
    expect(exact.filter((name) => !keys.includes(name))).toEqual([]);
  });

  test("are all of its servers", () => {
    const limits = keys.filter((key) => /^server\.(?:\w+\.)?(?:max_|\w*timeout_)\w+$/.test(key));
    expect(limits.length).toBeGreaterThan(8);
    expect(limits.filter((key) => !isNamed(key))).toEqual([]);
  });
});

test("the targets of docs/generating.md are those that there are", () => {
  const names = tableOf("generating.md", "target").flatMap(([target]) => namesIn(target));
  expect(names.sort()).toEqual([...TARGETS].sort());
});
