import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commonPath, compareTemplates, methodsOverlap } from "../../src/api/match-order.ts";
import { shapeOf } from "../../src/api/path-template.ts";
import { pathTemplates } from "./path-template-arbitrary.ts";
import { matches, templateOf, UNIVERSE } from "./request-oracle.ts";

const templates = pathTemplates.map(templateOf);
const compare = (left: string, right: string) =>
  Math.sign(compareTemplates(templateOf(left), templateOf(right)));

describe("compareTemplates [COMP-4]", () => {
  test.each([
    ["/a", "/*"],
    ["/a", "/**"],
    ["/*", "/**"],
    ["/{x=a}", "/{x}"],
    ["/a/*", "/*/a"],
    ["/a/**", "/*/a"],
    ["/*/a", "/*/*"],
    ["/a/b", "/a/**"],
    ["/a", "/a/**"],
    ["/", "/**"],
    ["/*:x", "/*"],
    ["/a:x", "/a"],
    ["/**:x", "/**"],
    ["/a", "/*:x"],
    ["/*/a", "/**:x"],
  ])("puts %s before %s", (left, right) => {
    expect(compare(left, right)).toBe(-1);
    expect(compare(right, left)).toBe(1);
  });

  test.each([
    ["/{a}", "/{b}"],
    ["/v1/{name=projects/*}", "/v1/projects/*"],
    ["/a", "/b"],
    ["/a:x", "/b:y"],
    ["/a", "/a/b"],
  ])("ranks %s and %s alike", (left, right) => {
    expect(compare(left, right)).toBe(0);
  });

  test("is transitive", () => {
    fc.assert(
      fc.property(templates, templates, templates, (a, b, c) => {
        expect(Math.sign(compareTemplates(a, b)) + Math.sign(compareTemplates(b, a))).toBe(0);
        if (compareTemplates(a, b) <= 0 && compareTemplates(b, c) <= 0) {
          expect(compareTemplates(a, c)).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("gives two templates with a common request the same rank only if their shapes are the same", () => {
    fc.assert(
      fc.property(templates, templates, (left, right) => {
        fc.pre(compareTemplates(left, right) === 0 && commonPath(left, right) !== undefined);
        expect(shapeOf(left)).toBe(shapeOf(right));
      }),
    );
  });
});

describe("commonPath", () => {
  test.each([
    ["/a", "/a", "/a"],
    ["/", "/", "/"],
    ["/", "/**", "/"],
    ["/a", "/*", "/a"],
    ["/*/b", "/a/*", "/a/b"],
    ["/a/**", "/*", "/a"],
    ["/a/**", "/**", "/a/x"],
    ["/a/**", "/*/*/b", "/a/x/b"],
    ["/*:x", "/*", "/x:x"],
    ["/a/**:x", "/*", "/a:x"],
    ["/**:x", "/a/*:x", "/a/x:x"],
  ])("of %s and %s is %s", (left, right, path) => {
    expect(commonPath(templateOf(left), templateOf(right))).toBe(path);
    expect(commonPath(templateOf(right), templateOf(left))).toBe(path);
  });

  test.each([
    ["/a", "/b"],
    ["/a", "/a/b"],
    ["/a", "/*/**:x"],
    ["/a:x", "/a"],
    ["/a:x", "/*:y"],
    ["/", "/*"],
    ["/", "/**:x"],
    ["/a/b", "/a/b/*"],
    ["/a/**", "/b/**"],
    ["/a/**", "/a:x"],
  ])("of %s and %s does not exist", (left, right) => {
    expect(commonPath(templateOf(left), templateOf(right))).toBeUndefined();
    expect(commonPath(templateOf(right), templateOf(left))).toBeUndefined();
  });

  test("is a request of both, and absent only if there is none", () => {
    fc.assert(
      fc.property(pathTemplates, pathTemplates, (left, right) => {
        const [a, b] = [templateOf(left), templateOf(right)];
        const path = commonPath(a, b);
        if (path !== undefined) {
          expect([path, matches(a, path), matches(b, path)]).toEqual([path, true, true]);
        } else {
          expect(UNIVERSE.filter((each) => matches(a, each) && matches(b, each))).toEqual([]);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

test.each([
  ["GET", "GET", true],
  ["GET", "POST", false],
  ["GET", "get", false],
  ["*", "POST", true],
  ["DELETE", "*", true],
  ["*", "*", true],
])("methodsOverlap of %s and %s is %s", (left, right, expected) => {
  expect(methodsOverlap(left, right)).toBe(expected);
});
