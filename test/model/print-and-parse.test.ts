import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  letrec,
  option,
  property,
  record,
  uniqueArray,
} from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AllowedSubject,
  type Definition,
  type Expression,
  formatSubject,
  type Model,
  type Permission,
  parseModel,
  type Relation,
} from "../../src/model/index.ts";
import { printModel } from "./print-model.ts";

const position = { line: 0, column: 0 };
const TYPES = ["user", "group", "acme/doc"];
const RELATIONS = ["viewer", "parent", "self1", "with_x"];
const PERMISSIONS = ["view", "edit", "nil_2"];
const NAMES = [...RELATIONS, ...PERMISSIONS];

const subject: Arbitrary<AllowedSubject> = record({
  type: constantFrom(...TYPES),
  relation: option(constantFrom(...NAMES), { nil: undefined }),
  wildcard: boolean(),
  caveat: option(constantFrom("recent", "acme/near"), { nil: undefined }),
  expiration: boolean(),
}).map(({ relation, caveat, ...rest }) => ({
  ...rest,
  ...(relation !== undefined && !rest.wildcard && { relation }),
  ...(caveat !== undefined && { caveat }),
  position,
}));

const { expression } = letrec<{ expression: Expression; operands: Expression[] }>((tie) => ({
  operands: array(tie("expression"), { minLength: 2, maxLength: 3 }),
  expression: option(
    record({
      kind: constantFrom("union" as const, "intersection" as const, "exclusion" as const),
      operands: tie("operands"),
    }).map(({ kind, operands }): Expression => {
      const [base, subtracted] = operands;
      if (kind === "exclusion" && base && subtracted) return { kind, base, subtracted };
      const same = kind === "intersection" ? "intersection" : "union";
      // The parser flattens nested combinations of the same kind.
      return {
        kind: same,
        operands: operands.flatMap((operand) =>
          operand.kind === same ? operand.operands : [operand],
        ),
      };
    }),
    { nil: undefined, maxDepth: 4 },
  ).chain((compound) => (compound ? constant(compound) : leaf)),
}));

const leaf: Arbitrary<Expression> = record({
  kind: constantFrom("nil" as const, "self" as const, "reference" as const, "arrow" as const),
  name: constantFrom(...NAMES),
  relation: constantFrom(...RELATIONS),
  function: constantFrom("any" as const, "all" as const),
}).map(({ kind, name, relation, function: called }): Expression => {
  if (kind === "reference") return { kind, name, position };
  if (kind !== "arrow") return { kind, position };
  const permissionPosition = position;
  return { kind, relation, function: called, permission: name, position, permissionPosition };
});

const relation: Arbitrary<Relation> = record({
  name: constantFrom(...RELATIONS),
  subjects: uniqueArray(subject, { minLength: 1, maxLength: 4, selector: formatSubject }),
  position: constant(position),
});

const permission: Arbitrary<Permission> = record({
  name: constantFrom(...PERMISSIONS),
  expression,
  types: option(uniqueArray(constantFrom("user", "group"), { minLength: 1 }), { nil: undefined }),
}).map(({ types, ...rest }) => ({ ...rest, ...(types && { subjectTypes: types }), position }));

const byName = <T extends { name: string }>(items: readonly T[]) =>
  new Map(items.map((item) => [item.name, item]));

const definition: Arbitrary<Definition> = record({
  name: constantFrom(...TYPES),
  relations: array(relation, { maxLength: 4 }).map(byName),
  permissions: array(permission, { maxLength: 3 }).map(byName),
  position: constant(position),
});

const model: Arbitrary<Model> = record({
  definitions: array(definition, { maxLength: 4 }).map(byName),
  caveats: constant(
    byName([
      {
        name: "recent",
        parameters: [{ name: "now", type: "timestamp", position }],
        expression: "now > timestamp('2026-01-01T00:00:00Z')",
        position,
      },
      {
        name: "acme/near",
        parameters: [
          { name: "here", type: "map<list<double>>", position },
          { name: "there", type: "any", position },
        ],
        expression: '{"}": here} == there',
        position,
      },
    ]),
  ),
});

/** Syntax rules; a random model may break semantic rules. */
const SYNTAX = /SYNTAX|CHARACTER|UNTERMINATED|NESTING|NAME_INVALID|DUPLICATE|CAVEAT|USE_/;

function withoutPositions(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([k, v]) => [k, withoutPositions(v)]));
  if (Array.isArray(value)) return value.map(withoutPositions);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !/position$/i.test(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutPositions(inner)]));
}

describe("a model that is printed and parsed again", () => {
  test("is the same model", () => {
    assert(
      property(model, (original) => {
        const text = printModel(original);
        const { model: parsed, diagnostics } = parseModel(text, "model.zed");
        expect(diagnostics.filter(({ rule }) => SYNTAX.test(rule))).toEqual([]);
        expect(withoutPositions(parsed)).toEqual(withoutPositions(original));
        expect(printModel(parsed)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
