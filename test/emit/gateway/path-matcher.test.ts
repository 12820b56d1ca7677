import { describe, expect, test } from "vitest";
import { parsePathTemplate } from "../../../src/api/path-template.ts";
import { matchesPath } from "../../../src/emit/gateway/index.ts";
import {
  describeInvalidMatch,
  naturalMatch,
  regexMatch,
} from "../../../src/emit/gateway/path-matcher.ts";

function templateOf(text: string) {
  const { template, error } = parsePathTemplate(text);
  if (template === undefined) throw new Error(error);
  return template;
}

describe("the match of a template", () => {
  test.each([
    ["/", "Exact", "/"],
    ["/v1/skills", "Exact", "/v1/skills"],
    ["/v1/skills:watch", "Exact", "/v1/skills:watch"],
    ["/v1/a%20b", "Exact", "/v1/a%20b"],
    ["/**", "PathPrefix", "/"],
    ["/v1/files/**", "PathPrefix", "/v1/files"],
    ["/v1/files/{path=**}", "PathPrefix", "/v1/files"],
    ["/v1/skills/{id}", "RegularExpression", "/v1/skills/[^/]+"],
    ["/v1/skills/{id}:publish", "RegularExpression", "/v1/skills/[^/]+:publish"],
    ["/v1/{name=projects/*/skills/*}", "RegularExpression", "/v1/projects/[^/]+/skills/[^/]+"],
    ["/v1/{name=projects/*/**}", "RegularExpression", "/v1/projects/[^/]+(?:/.*)?"],
    ["/v1/files/{path=**}:stat", "RegularExpression", "/v1/files(?:/.*)?:stat"],
    ["/**:any", "RegularExpression", "/.*:any"],
    ["/v1.2/$(a+b)/{id}", "RegularExpression", "/v1\\.2/\\$\\(a\\+b\\)/[^/]+"],
  ])("%s is %s %s", (text, type, value) => {
    expect(naturalMatch(templateOf(text))).toEqual({ type, value });
  });

  test.each([
    [
      "/v1/skills/{id}",
      ["/v1/skills/a", "/v1/skills/a:b"],
      ["/v1/skills", "/v1/skills/", "/v1/skills/a/b"],
    ],
    ["/v1/files/**", ["/v1/files", "/v1/files/", "/v1/files/a/b"], ["/v1/filesystem", "/v1"]],
    ["/v1/{a=x/**}:go", ["/v1/x:go", "/v1/x/y:go", "/v1/x/y/z:go"], ["/v1/x", "/v1/x/y"]],
    ["/a.b/{id}", ["/a.b/c"], ["/axb/c"]],
  ])("%s matches only some paths", (text, takes, leaves) => {
    const matches = [naturalMatch(templateOf(text)), regexMatch(templateOf(text), 50)];
    for (const match of matches) {
      expect(takes.filter((path) => !matchesPath(match, path))).toEqual([]);
      expect(leaves.filter((path) => matchesPath(match, path))).toEqual([]);
    }
  });

  test.each([
    ["/v1/a%2Fb", "the gateway rejects paths with an encoded slash"],
    ["/v1/a%5cb/{id}", "the gateway rejects paths with an encoded slash"],
    [
      `/v1/${"a".repeat(1000)}/{b}/{c}/{d}/{e}`,
      "its match has 1028 characters and the Gateway API allows 1024",
    ],
    ["/v1/a/{b}", undefined],
  ])("%s is not valid in a route: %s", (text, reason) => {
    expect(describeInvalidMatch(naturalMatch(templateOf(text)))).toBe(reason);
  });

  test("double slashes and dots, which an implied path may have, are rejected", () => {
    for (const value of ["//a", "/a//b", "/a/../b", "/a/.", '/a"']) {
      expect(describeInvalidMatch({ type: "Exact", value })).toBe(
        "the Gateway API does not allow such a path",
      );
    }
  });
});
