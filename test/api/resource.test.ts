import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatResource, parseResource, type ResourcePart } from "../../src/api/resource.ts";

/** Each id in short: `literal`, `{field}`, `{principal field}`. */
const VALID: Readonly<Record<string, { type: string; id: readonly string[] | "*" }>> = {
  "skill:*": { type: "skill", id: "*" },
  "skill:{id}": { type: "skill", id: ["{id}"] },
  "skill:{a.b.c_1}": { type: "skill", id: ["{a.b.c_1}"] },
  "skill:fixed": { type: "skill", id: ["fixed"] },
  "skill:pre-{a}/mid.{b}_end": { type: "skill", id: ["pre-", "{a}", "/mid.", "{b}", "_end"] },
  "skill:a:b:{c}": { type: "skill", id: ["a:b:", "{c}"] },
  "skill::": { type: "skill", id: [":"] },
  "skill:ünïcode-日本|=+@": { type: "skill", id: ["ünïcode-日本|=+@"] },
  "organization:{principal.organization_id}": {
    type: "organization",
    id: ["{principal organization_id}"],
  },
  "user:{principal}": { type: "user", id: ["{principal }"] },
  "user:{principal.a.b}": { type: "user", id: ["{principal a.b}"] },
  "user:{principals.id}": { type: "user", id: ["{principals.id}"] },
  "user:{user.principal}": { type: "user", id: ["{user.principal}"] },
  "abc:x": { type: "abc", id: ["x"] },
  "tenant/skill:{id}": { type: "tenant/skill", id: ["{id}"] },
  "tenant_1/sub/skill_2:{id}": { type: "tenant_1/sub/skill_2", id: ["{id}"] },
  [`${"t".repeat(64)}:x`]: { type: "t".repeat(64), id: ["x"] },
  [`skill:${"x".repeat(256)}`]: { type: "skill", id: ["x".repeat(256)] },
  [`skill:${"é".repeat(128)}`]: { type: "skill", id: ["é".repeat(128)] },
};

const NO_TYPE = "a type has 3 to 64 characters of a-z, 0-9 and _, and starts with a letter";

const INVALID: Readonly<Record<string, string>> = {
  "": '"" has no type; write type:id, such as skill:{id}',
  skill: '"skill" has no type; write type:id, such as skill:{id}',
  "*": '"*" has no type; write type:id, such as skill:*',
  "{id}": '"{id}" has no type; write type:id, such as skill:{id}',
  "ledger {name}": '"ledger {name}" has no type; write type:id, such as ledger:{name}',
  "Ledger {a b}": '"Ledger {a b}" has no type; write type:id, such as skill:{id}',
  ":": `"" is not a type: ${NO_TYPE}`,
  ":x": `"" is not a type: ${NO_TYPE}`,
  "Skill:x": `"Skill" is not a type: ${NO_TYPE}`,
  "ab:x": `"ab" is not a type: ${NO_TYPE}`,
  "a__:x": `"a__" is not a type: ${NO_TYPE}`,
  "1abc:x": `"1abc" is not a type: ${NO_TYPE}`,
  "my-type:x": `"my-type" is not a type: ${NO_TYPE}`,
  "skill :x": `"skill " is not a type: ${NO_TYPE}`,
  "/skill:x": `"/skill" is not a type: ${NO_TYPE}`,
  "tenant/:x": `"tenant/" is not a type: ${NO_TYPE}`,
  "*:x": `"*" is not a type: ${NO_TYPE}`,
  [`${"t".repeat(65)}:x`]: `is not a type: ${NO_TYPE}`,
  "{type}:x": '"{type}" is not a type: a type cannot contain a placeholder',
  "sk{x}:y": "a type cannot contain a placeholder",
  "skill:": '"skill:" has an empty id; write skill:{field} or skill:*',
  "skill:{a}{b}": '"{b}" follows another placeholder',
  "skill:x{principal.name}{a}y": '"{a}" follows another placeholder',
  "skill:{": 'the placeholder "{" has no closing brace',
  "skill:a-{id": 'the placeholder "{id" has no closing brace',
  "skill:{}": '"{}" is not a placeholder; write a field path, such as {skill.skill_id}',
  "skill:{ id }": '"{ id }" is not a placeholder',
  "skill:{a..b}": '"{a..b}" is not a placeholder',
  "skill:{.a}": '"{.a}" is not a placeholder',
  "skill:{a.}": '"{a.}" is not a placeholder',
  "skill:{1a}": '"{1a}" is not a placeholder',
  "skill:{a-b}": '"{a-b}" is not a placeholder',
  "skill:{a=*}": '"{a=*}" is not a placeholder',
  "skill:{{id}}": '"{{id}" is not a placeholder',
  "skill:*}": '"}" in "*}" has no matching "{"',
  "skill:id}": '"}" in "id}" has no matching "{"',
  "skill:{id}}": '"}" in "}" has no matching "{"',
  "skill:**": '"*" must be the whole id, as in type:*',
  "skill:a*": '"*" must be the whole id, as in type:*',
  "skill:{id}*": '"*" must be the whole id, as in type:*',
  "skill: *": '" " is not allowed in an object id',
  "skill:a#viewer": '"#" is not allowed in an object id',
  "skill:{id}#": '"#" is not allowed in an object id',
  "skill:a b": '" " is not allowed in an object id',
  "skill:a\tb": '"\\t" is not allowed in an object id',
  "skill:a\n": '"\\n" is not allowed in an object id',
  "skill:a\u0000": '"\\u0000" is not allowed in an object id',
  "skill:a\u007f": "is not allowed in an object id",
  "skill:a\u00a0b": "is not allowed in an object id",
  "skill:a\u200bb": "is not allowed in an object id",
  "skill:a\u202eb": "is not allowed in an object id",
  "skill:a\u2028b": "is not allowed in an object id",
  "skill:a\ufeffb": "is not allowed in an object id",
  [`skill:${"x".repeat(257)}`]: "the id has 257 bytes; the limit is 256",
  [`skill:${"é".repeat(129)}`]: "the id has 258 bytes; the limit is 256",
  [`skill:${"x".repeat(200)}{id}${"x".repeat(57)}`]: "the id has 257 bytes; the limit is 256",
};

const shorten = (part: ResourcePart) => {
  if (part.kind === "literal") return part.text;
  return part.kind === "principal" ? `{principal ${part.field}}` : `{${part.path}}`;
};

describe("parseResource [ANNO-5]", () => {
  test.each(Object.entries(VALID))("reads %j", (text, expected) => {
    const { template } = parseResource(text);
    expect(template?.type).toBe(expected.type);
    expect(template?.id === "*" ? "*" : template?.id.map(shorten)).toEqual(expected.id);
  });

  test.each(Object.entries(INVALID))("refuses %j", (text, message) => {
    expect(parseResource(text)).toEqual({ error: expect.stringContaining(message) });
  });

  test("never throws, and accepts no text that could be read as another reference", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }).map((id) => `skill:${id}`),
      fc.string({ unit: fc.constantFrom(..."skil:{}.*#a principal") }).map((id) => `skill:${id}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { template } = parseResource(text);
        if (template === undefined || template.id === "*") return;
        expect(template.id).not.toEqual([]);
        for (const part of template.id) {
          if (part.kind === "literal") expect(part.text).toMatch(/^[^#*\s\p{Cc}{}]+$/u);
        }
      }),
    );
  });
});

describe("formatResource", () => {
  test.each(Object.keys(VALID).filter((text) => text !== "user:{principal}"))(
    "writes %j as it was",
    (text) => {
      const { template } = parseResource(text);
      expect(template && formatResource(template)).toBe(text);
    },
  );
});
