import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareTemplates, methodsOverlap } from "../../../src/api/match-order.ts";
import {
  type PathTemplate,
  parsePathTemplate,
  type Segment,
  shapeOf,
} from "../../../src/api/path-template.ts";
import { compareMatches, matchesPath, type RouteMatch } from "../../../src/emit/gateway/index.ts";
import { assignMatches, type PathUnit } from "../../../src/emit/gateway/precedence.ts";
import { cpuMilliseconds } from "../../support/cpu-time.ts";

function unit(text: string, ...methods: string[]): PathUnit {
  const { template, error } = parsePathTemplate(text);
  if (template === undefined) throw new Error(error);
  return { shape: shapeOf(template), template, methods: new Set(methods) };
}

function valuesOf(units: readonly PathUnit[]): string[] {
  const matches = assignMatches(units);
  return units.map(({ shape }) => `${matches.get(shape)?.type} ${matches.get(shape)?.value}`);
}

describe("the repair of precedence", () => {
  test("matches stay unchanged where our order is that of Envoy", () => {
    expect(
      valuesOf([
        unit("/v1/skills", "GET"),
        unit("/v1/skills/{id}", "GET"),
        unit("/v1/**", "GET"),
        unit("/**", "*"),
      ]),
    ).toEqual([
      "Exact /v1/skills",
      "RegularExpression /v1/skills/[^/]+",
      "PathPrefix /v1",
      "PathPrefix /",
    ]);
  });

  test("the narrower of two regular expressions becomes the longer one", () => {
    expect(valuesOf([unit("/v1/a/{id}", "GET"), unit("/v1/{kind}/long-name", "GET")])).toEqual([
      "RegularExpression /v1/a/[^/]+(?:)(?:)(?:)",
      "RegularExpression /v1/[^/]+/long-name",
    ]);
  });

  test("a prefix that must win over a regular expression becomes one", () => {
    expect(valuesOf([unit("/v1/files/**", "GET"), unit("/v1/{kind}/{id}", "GET")])).toEqual([
      "RegularExpression /v1/files(?:/.*)?",
      "RegularExpression /v1/[^/]+/[^/]+",
    ]);
  });

  test("routes of different methods need no repair", () => {
    expect(valuesOf([unit("/v1/a/{id}", "GET"), unit("/v1/{kind}/long-name", "POST")])).toEqual([
      "RegularExpression /v1/a/[^/]+",
      "RegularExpression /v1/[^/]+/long-name",
    ]);
  });

  test("a verb after an empty `**` belongs to the segment before it", () => {
    // Both match /x/y/z/a:v.
    const [narrow, wide] = valuesOf([
      unit("/x/y/z/a/**:v", "GET"),
      unit("/{p}/{q}/{r}/a:v", "GET"),
    ]) as [string, string];
    expect(narrow.length).toBeGreaterThan(wide.length);
  });

  test("the order of the units changes nothing", () => {
    const units = [
      unit("/{a}/b/**", "GET"),
      unit("/a/{b}/c", "*"),
      unit("/a/b/**", "GET"),
      unit("/{a}/{b}/c", "GET"),
    ];
    expect([...assignMatches([...units].reverse())].sort()).toEqual(
      [...assignMatches(units)].sort(),
    );
  });

  test("thousands of overlapping templates are ordered quickly", () => {
    const units = Array.from({ length: 3000 }, (_, index) => [
      unit(`/v1/{kind}/item-with-a-long-name-${index}`, "GET"),
      unit(`/v1/kind${index}/{id}`, "GET"),
    ]).flat();
    let matches: ReturnType<typeof assignMatches> = new Map();
    // These are 18 million pairs.
    expect(cpuMilliseconds(() => void (matches = assignMatches(units)))).toBeLessThan(10_000);
    const longest = Math.max(
      ...[...matches]
        .filter(([shape]) => shape.startsWith("/v1/*/"))
        .map(([, { value }]) => value.length),
    );
    for (const [shape, { value }] of matches) {
      if (shape.startsWith("/v1/kind")) expect(value.length).toBeGreaterThan(longest);
    }
  });
});

const literal = fc
  .constantFrom("a", "b", "c", "longer-name", "a:v")
  .map((text): Segment => ({ kind: "literal", text }));
const segment = fc.oneof(
  { weight: 3, arbitrary: literal },
  { weight: 2, arbitrary: fc.constant<Segment>({ kind: "single" }) },
);
const template = fc
  .tuple(
    fc.array(segment, { maxLength: 4 }),
    fc.boolean(),
    fc.option(fc.constantFrom("v", "w"), { nil: undefined }),
  )
  .filter(([segments, multi]) => segments.length > 0 || multi)
  .map(([segments, multi, verb]): PathTemplate => {
    const all: Segment[] = multi ? [...segments, { kind: "multi" }] : segments;
    const last = all.at(-1);
    // A verb after a literal, and the literal without one.
    const verbal = verb !== undefined && !(last?.kind === "literal" && last.text.includes(":"));
    return { segments: all, variables: [], ...(verbal ? { verb } : {}) };
  });
const methods = fc.uniqueArray(fc.constantFrom("GET", "POST", "*"), { minLength: 1, maxLength: 2 });
const units = fc
  .uniqueArray(fc.tuple(template, methods), { maxLength: 12, selector: ([each]) => shapeOf(each) })
  .map((all) =>
    all.map(
      ([each, allowed]): PathUnit => ({
        shape: shapeOf(each),
        template: each,
        methods: new Set(allowed),
      }),
    ),
  );
const path = fc
  .array(fc.constantFrom("a", "b", "c", "longer-name", "x", "a:v", "b:w", "x:v", "c:v"), {
    maxLength: 5,
  })
  .map((parts) => `/${parts.join("/")}`);
const requests = fc.array(fc.tuple(fc.constantFrom("GET", "POST", "PUT"), path), {
  minLength: 20,
  maxLength: 40,
});

/** Whether a path matches a template, by the specification and not by our matcher. */
function fits({ segments, verb }: PathTemplate, text: string): boolean {
  const parts = text === "/" ? [] : text.slice(1).split("/");
  if (verb !== undefined) {
    const last = parts.pop();
    if (last === undefined || !last.endsWith(`:${verb}`)) return false;
    parts.push(last.slice(0, -verb.length - 1));
  }
  const open = segments.at(-1)?.kind === "multi";
  const fixed = open ? segments.slice(0, -1) : segments;
  if (open ? parts.length < fixed.length : parts.length !== fixed.length) return false;
  return fixed.every(
    (each, index) =>
      each.kind === "single" || (each.kind === "literal" && each.text === parts[index]),
  );
}

describe("Envoy's choice", () => {
  test("is ours, for any templates and any request", () => {
    fc.assert(
      fc.property(units, requests, (all, asked) => {
        const matches = assignMatches(all);
        const entries = all.flatMap((each) =>
          [...each.methods].map((method): { owner: string; match: RouteMatch } => {
            const path = matches.get(each.shape);
            if (path === undefined) throw new Error(`${each.shape} has no match`);
            return { owner: each.shape, match: method === "*" ? { path } : { path, method } };
          }),
        );
        for (const [method, text] of asked) {
          const ours = all
            .filter(
              (each) =>
                fits(each.template, text) &&
                [...each.methods].some((one) => methodsOverlap(one, method)),
            )
            .sort((left, right) => compareTemplates(left.template, right.template))[0]?.shape;
          const found = entries
            .filter(
              ({ match }) => (match.method ?? method) === method && matchesPath(match.path, text),
            )
            .sort((left, right) => compareMatches(left.match, right.match));
          const first = found[0];
          // If Envoy's order allows several matches, each of them must be right.
          const chosen = found.filter(
            ({ match }) => first !== undefined && compareMatches(match, first.match) === 0,
          );
          expect([...new Set(chosen.map(({ owner }) => owner))]).toEqual(
            ours === undefined ? [] : [ours],
          );
        }
      }),
      { numRuns: 1500, seed: 1 },
    );
  });
});
