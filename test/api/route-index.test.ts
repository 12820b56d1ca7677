import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareTemplates, methodsOverlap } from "../../src/api/match-order.ts";
import { type Claim, type Route, RouteIndex } from "../../src/api/route-index.ts";
import { pathTemplates } from "./path-template-arbitrary.ts";
import { matches, templateOf, UNIVERSE } from "./request-oracle.ts";

/** A route whose owner is its text: `GET /v1/{id}`. */
function routeOf(text: string): Route<string> {
  const [method = "", path = ""] = text.split(" ");
  return { method, template: templateOf(path), owner: text };
}

function indexOf(routes: readonly Route<string>[]): RouteIndex<string> {
  const index = new RouteIndex<string>();
  for (const route of routes) index.add(route);
  return index;
}

const routes = fc
  .tuple(fc.constantFrom("GET", "POST", "*"), pathTemplates)
  .map((parts) => routeOf(parts.join(" ")));
const anyRoutes = fc.array(routes, { maxLength: 12 });

/** Whether two routes claim the same request, by trying all requests. */
function overlap(left: Route<string>, right: Route<string>): boolean {
  if (!methodsOverlap(left.method, right.method)) return false;
  return UNIVERSE.some((path) => matches(left.template, path) && matches(right.template, path));
}

/** Expects that the request of a claim matches both routes. */
function expectCommonRequest(route: Route<string>, claim: Claim<string>): void {
  const [method = "", path = ""] = claim.request.split(" ");
  for (const { method: own, template } of [route, claim.route]) {
    expect([claim.request, methodsOverlap(own, method), matches(template, path)]).toEqual([
      claim.request,
      true,
      true,
    ]);
  }
  expect(method).not.toBe("*");
}

describe("equal", () => {
  test.each([
    ["GET /v1/{id}", "GET /v1/{name}", "GET /v1/x"],
    ["GET /v1/{id}", "* /v1/{name}", "GET /v1/x"],
    ["* /v1/{id}", "PUT /v1/{name}", "PUT /v1/x"],
    ["* /v1", "* /v1", "GET /v1"],
    ["GET /v1/{id=a/*}:x", "GET /v1/a/*:x", "GET /v1/a/x:x"],
  ])("%s claims with %s the request %s", (added, asked, request) => {
    expect(indexOf([routeOf(added)]).equal(routeOf(asked), () => true)).toEqual({
      route: routeOf(added),
      request,
    });
  });

  test("skips routes that are not accepted", () => {
    const index = indexOf([routeOf("GET /{a}"), routeOf("GET /{b}"), routeOf("GET /{c}")]);
    const claim = index.equal(routeOf("GET /{d}"), (owner) => owner === "GET /{b}");
    expect(claim?.route.owner).toBe("GET /{b}");
    expect(index.equal(routeOf("GET /{d}"), () => false)).toBeUndefined();
  });

  test("is the same first route that a comparison with all routes finds", () => {
    fc.assert(
      fc.property(anyRoutes, routes, (others, route) => {
        const claim = indexOf(others).equal(route, () => true);
        const expected = others.find(
          (other) =>
            compareTemplates(route.template, other.template) === 0 && overlap(route, other),
        );
        expect(claim?.route.owner).toBe(expected?.owner);
        if (claim !== undefined) expectCommonRequest(route, claim);
      }),
      { numRuns: 500 },
    );
  });
});

describe("captured", () => {
  test.each([
    ["GET /v1/{id}", "GET /v1/me", "GET /v1/me"],
    ["GET /**", "GET /a/{id}", "GET /a/x"],
    ["GET /{id}/b", "GET /a/**", "GET /a/b"],
    ["GET /{id}", "GET /a/**", "GET /a"],
    ["GET /{id}/b/{id2}/c", "GET /a/*/b/**", "GET /a/b/b/c"],
    ["GET /{id}", "GET /{id}:x", "GET /x:x"],
    ["GET /**", "GET /**:x", "GET /x:x"],
    ["* /{id}", "DELETE /a", "DELETE /a"],
  ])("of %s, %s captures %s", (added, asked, request) => {
    expect(indexOf([routeOf(added)]).captured(routeOf(asked))?.request).toBe(request);
  });

  test.each([
    ["GET /v1/me", "GET /v1/{id}"],
    ["GET /v1/{id}", "GET /v1/{name}"],
    ["POST /v1/{id}", "GET /v1/me"],
    ["GET /v1/{id}:x", "GET /v1/me"],
    ["GET /v1/{id}:x", "GET /v1/me:y"],
    ["GET /a/*", "GET /a"],
  ])("of %s, %s captures nothing", (added, asked) => {
    expect(indexOf([routeOf(added)]).captured(routeOf(asked))).toBeUndefined();
  });

  test("is found exactly if a comparison with all routes finds one", () => {
    fc.assert(
      fc.property(anyRoutes, routes, (others, route) => {
        const claim = indexOf(others).captured(route);
        const expected = others.filter(
          (other) => compareTemplates(route.template, other.template) < 0 && overlap(route, other),
        );
        const found = claim === undefined ? [] : [claim.route.owner];
        expect(expected.map(({ owner }) => owner)).toEqual(expect.arrayContaining(found));
        expect(found).toHaveLength(Math.min(expected.length, 1));
        if (claim !== undefined) expectCommonRequest(route, claim);
      }),
      { numRuns: 500 },
    );
  });
});
