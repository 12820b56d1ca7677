import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatSegment,
  type PathTemplate,
  type PathVariable,
  parsePathTemplate,
  shapeOf,
} from "../../src/api/path-template.ts";
import { pathTemplates } from "./path-template-arbitrary.ts";

interface Parsed {
  /** The segments, joined: a literal, `*` or `**`. */
  readonly segments: string;
  /** Each as `field start end`. */
  readonly variables?: readonly string[];
  readonly verb?: string;
}

const VALID: Readonly<Record<string, Parsed>> = {
  "/": { segments: "" },
  "/v1": { segments: "v1" },
  "/v1/things": { segments: "v1/things" },
  "/*": { segments: "*" },
  "/**": { segments: "**" },
  "/v1/*/things/**": { segments: "v1/*/things/**" },
  "/v1/{id}": { segments: "v1/*", variables: ["id 1 2"] },
  "/v1/{id=*}": { segments: "v1/*", variables: ["id 1 2"] },
  "/v1/{id=**}": { segments: "v1/**", variables: ["id 1 2"] },
  "/v1/{id=fixed}": { segments: "v1/fixed", variables: ["id 1 2"] },
  "/v1/{name=projects/*/zones/**}": { segments: "v1/projects/*/zones/**", variables: ["name 1 5"] },
  "/{a}/{b.c_d.E9}/x": { segments: "*/*/x", variables: ["a 0 1", "b.c_d.E9 1 2"] },
  "/{a}/{ab}/{a_b.a}": { segments: "*/*/*", variables: ["a 0 1", "ab 1 2", "a_b.a 2 3"] },
  "/{_}": { segments: "*", variables: ["_ 0 1"] },
  "/v1:run": { segments: "v1", verb: "run" },
  "/v1/{id}:run": { segments: "v1/*", variables: ["id 1 2"], verb: "run" },
  "/v1/{id=**}:batch.get-all~1": {
    segments: "v1/**",
    variables: ["id 1 2"],
    verb: "batch.get-all~1",
  },
  "/**:run": { segments: "**", verb: "run" },
  "/a-b.c_d~e!f$g&h'i(j)k+l,m;n@o": { segments: "a-b.c_d~e!f$g&h'i(j)k+l,m;n@o" },
  "/%2F%c3%A9/...": { segments: "%2F%c3%A9/..." },
  "/.well-known/openid-configuration": { segments: ".well-known/openid-configuration" },
  [`/${"x".repeat(1023)}`]: { segments: "x".repeat(1023) },
};

const INVALID: Readonly<Record<string, string>> = {
  "": "the path is empty; write, for example, /v1/things",
  [`/${"x".repeat(1024)}`]: "the path has 1025 characters; the limit is 1024",
  v1: 'the path must start with "/" (character 1)',
  " /v1": 'the path must start with "/" (character 1)',
  "{id}": 'the path must start with "/" (character 1)',
  "//": "a segment is empty (character 2)",
  "/v1/": "a segment is empty (character 5)",
  "/v1//x": "a segment is empty (character 5)",
  "/:run": "a segment is empty (character 2)",
  "/v1/:run": "a segment is empty (character 5)",
  "/v1:": "a verb must follow the colon (character 5)",
  "/v1:*": "a verb must follow the colon (character 5)",
  "/v1:{id}": "a verb must follow the colon (character 5)",
  "/v1:run:stop": '":" is not allowed here (character 8)',
  "/v1:run/x": '"/" is not allowed here (character 8)',
  "/v1/a:b/c": '"/" is not allowed here (character 8)',
  "/v1/**/x": '"**" must be the last segment before the verb',
  "/**/**": '"**" must be the last segment before the verb',
  "/{a=**}/x": '"**" must be the last segment before the verb',
  "/{a=**/x}": '"**" must be the last segment before the verb',
  "/***": '"*" is not allowed here (character 4)',
  "/a*": '"*" is not allowed here (character 3)',
  "/*a": '"a" is not allowed here (character 3)',
  "/a{b}": '"{" is not allowed here (character 3)',
  "/{a}b": '"b" is not allowed here (character 5)',
  "/{a}{b}": '"{" is not allowed here (character 5)',
  "/{a": 'the variable "a" has no closing brace (character 4)',
  "/{a=x/*": 'the variable "a" has no closing brace (character 8)',
  "/a}": '"}" is not allowed here (character 3)',
  "/}": '"}" is not allowed here (character 2)',
  "/{}": "a variable must name a field (character 3)",
  "/{=*}": "a variable must name a field (character 3)",
  "/{1a}": "a variable must name a field (character 3)",
  "/{.a}": "a variable must name a field (character 3)",
  "/{a.}": "a variable must name a field (character 5)",
  "/{a..b}": "a variable must name a field (character 5)",
  "/{a-b}": '"-" is not allowed here (character 4)',
  "/{ a}": "a variable must name a field (character 3)",
  "/{a=}": '"}" is not allowed here (character 5)',
  "/{a=/x}": "a segment is empty (character 5)",
  "/{a=x/}": '"}" is not allowed here (character 7)',
  "/{a=x:run}": '":" is not allowed here (character 6)',
  "/{a=x=y}": '"=" is not allowed here (character 6)',
  "/{a={b}}": 'the variable "a" contains another variable; variables do not nest (character 5)',
  "/{a=x/{b}}": 'the variable "a" contains another variable; variables do not nest (character 7)',
  "/{a}/{a}": 'the variable "a" occurs twice',
  "/{a}/{a.b}": 'the variables "a" and "a.b" bind the same field',
  "/{a.b.c}/{a}": 'the variables "a" and "a.b.c" bind the same field',
  "/{a.b.c}/{a.b}": 'the variables "a.b" and "a.b.c" bind the same field',
  "/v1?x=1":
    '"?" is not allowed in a path; fields that the path does not bind become query parameters (character 4)',
  "/v1#x":
    '"#" is not allowed in a path; fields that the path does not bind become query parameters (character 4)',
  "/a b": '" " is not allowed here (character 3)',
  "/a\n": '"\n" is not allowed here (character 3)',
  "/é": '"é" is not allowed here (character 2)',
  "/😀": '"😀" is not allowed here (character 2)',
  "/a=b": '"=" is not allowed here (character 3)',
  "/a\\b": '"\\" is not allowed here (character 3)',
  '/a"b': '""" is not allowed here (character 3)',
  "/%": '"%" is not allowed here (character 2)',
  "/%2": '"%" is not allowed here (character 2)',
  "/%zz": '"%" is not allowed here (character 2)',
  "/.": 'clients cannot send the segment "." (character 3)',
  "/../v1": 'clients cannot send the segment ".." (character 4)',
  "/v1/./x": 'clients cannot send the segment "." (character 6)',
};

describe("parsePathTemplate", () => {
  test.each(Object.entries(VALID))("reads %s", (text, expected) => {
    const { template } = parsePathTemplate(text);
    expect(template && shapeOf({ segments: template.segments, variables: [] })).toBe(
      `/${expected.segments}`,
    );
    expect(template?.variables.map(describeVariable)).toEqual(expected.variables ?? []);
    expect(template?.verb).toBe(expected.verb);
    expect(template && Object.hasOwn(template, "verb")).toBe(expected.verb !== undefined);
  });

  test.each(Object.entries(INVALID))("refuses %j", (text, message) => {
    expect(parsePathTemplate(text)).toEqual({ error: message });
  });

  test("never throws, and an error has a message", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."/{}=*:.a1%?-") }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { template, error } = parsePathTemplate(text);
        expect(template === undefined).toBe(typeof error === "string" && error !== "");
      }),
    );
  });
});

/** The template as text, with each variable written out: `/v1/{name=projects/*}`. */
function formatPathTemplate(template: PathTemplate): string {
  const segments = template.segments.map(formatSegment);
  for (const variable of template.variables) {
    segments[variable.start] = `{${variable.field}=${segments[variable.start] ?? ""}`;
    const last = variable.end - 1;
    segments[last] = `${segments[last] ?? ""}}`;
  }
  return `/${segments.join("/")}${template.verb === undefined ? "" : `:${template.verb}`}`;
}

describe("a template as text", () => {
  test.each([
    ["/v1/{id}", "/v1/{id=*}"],
    ["/v1/{name=projects/*}:run", "/v1/{name=projects/*}:run"],
    ["/{a}/**", "/{a=*}/**"],
    ["/", "/"],
  ])("writes %s as %s", (text, expected) => {
    expect(formatPathTemplate(parsed(text))).toBe(expected);
  });

  test("parses to the template that it was made from", () => {
    fc.assert(
      fc.property(pathTemplates, (text) => {
        const template = parsed(text);
        expect(parsed(formatPathTemplate(template))).toEqual(template);
      }),
    );
  });
});

describe("shapeOf", () => {
  test.each([
    ["/v1/{id}", "/v1/{name}", true],
    ["/v1/{name=projects/*}", "/v1/projects/{id}", true],
    ["/v1/{name=**}:run", "/v1/**:run", true],
    ["/v1/{id}:run", "/v1/{id}", false],
    ["/v1/*", "/v1/**", false],
    ["/v1/x", "/v1/X", false],
  ])("of %s and %s is the same: %s", (left, right, same) => {
    expect(shapeOf(parsed(left)) === shapeOf(parsed(right))).toBe(same);
  });
});

function parsed(text: string) {
  const { template, error } = parsePathTemplate(text);
  if (template === undefined) throw new Error(`${text}: ${error}`);
  return template;
}

function describeVariable({ field, start, end }: PathVariable): string {
  return `${field} ${start} ${end}`;
}
