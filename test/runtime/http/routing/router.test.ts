import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareTemplates } from "../../../../src/api/match-order.ts";
import { formatSegment, type PathTemplate, shapeOf } from "../../../../src/api/path-template.ts";
import { Router } from "../../../../src/runtime/http/routing/router.ts";
import { StartUpError } from "../../../../src/runtime/index.ts";
import { cpuMilliseconds } from "../../../support/cpu-time.ts";
import { httpRoute } from "../support.ts";

function routerOf(...routes: string[]): Router<string> {
  return new Router(routes.map((text) => ({ shape: httpRoute(text), name: text, value: text })));
}

describe("Router", () => {
  it("refuses two routes of equal rank", () => {
    const make = () => routerOf("GET /v1/{a}", "GET /v1/{b}");
    expect(make).toThrow(StartUpError);
    expect(make).toThrow("GET /v1/{b} and GET /v1/{a} serve the same requests");
  });

  const routes = [
    "GET /",
    "GET /v1/skills",
    "POST /v1/skills",
    "GET /v1/skills:featured",
    "GET /v1/skills/{id}",
    "DELETE /v1/skills/{id}",
    "GET /v1/skills/{id}:review",
    "GET /v1/skills/{id}/versions:latest",
    "GET /v1/skills/{id}/files/{path=**}",
    "GET /v1/{kind}/{id}/files/readme",
    "* /v1/any",
    "POST /v1/any",
    "GET /v1/tree/{path=**}:raw",
    "POST /v1/skills/special",
  ];
  const router = routerOf(...routes);
  const find = (method: string, path: string) => router.find(method, path)?.value;

  it.each([
    ["GET", "/v2"],
    ["GET", "/v1/skills/"],
    ["GET", "/v1/skills/x/"],
    ["GET", "/v1/skills/x/y"],
    ["GET", "/v1"],
    ["GET", "/V1/skills"],
    ["GET", "/v1/%73kills"],
    ["GET", "/v1/skills%3Afeatured"],
    ["GET", "/v1/skills;x=1"],
    ["PUT", "/v1/skills"],
  ])("serves nothing: %s %s", (method, path) => {
    expect(find(method, path)).toBeUndefined();
  });

  it.each([
    ["GET", "/", "GET /"],
    ["GET", "/v1/skills", "GET /v1/skills"],
    ["HEAD", "/v1/skills", "GET /v1/skills"],
    ["GET", "/v1/skills:featured", "GET /v1/skills:featured"],
    ["GET", "/v1/skills/a", "GET /v1/skills/{id}"],
    ["GET", "/v1/skills/a:review", "GET /v1/skills/{id}:review"],
    ["GET", "/v1/skills/a:b:review", "GET /v1/skills/{id}:review"],
    ["GET", "/v1/skills/a:other", "GET /v1/skills/{id}"],
    ["GET", "/v1/skills/:review", "GET /v1/skills/{id}"],
    ["DELETE", "/v1/skills/a:review", "DELETE /v1/skills/{id}"],
    ["GET", "/v1/skills/special", "GET /v1/skills/{id}"],
    ["POST", "/v1/skills/special", "POST /v1/skills/special"],
    ["GET", "/v1/skills/a/versions:latest", "GET /v1/skills/{id}/versions:latest"],
    ["GET", "/v1/skills/a/files", "GET /v1/skills/{id}/files/{path=**}"],
    ["GET", "/v1/skills/a/files/b/c", "GET /v1/skills/{id}/files/{path=**}"],
    ["GET", "/v1/skills/a/files/readme", "GET /v1/skills/{id}/files/{path=**}"],
    ["GET", "/v1/other/a/files/readme", "GET /v1/{kind}/{id}/files/readme"],
    ["POST", "/v1/any", "POST /v1/any"],
    ["PATCH", "/v1/any", "* /v1/any"],
    ["GET", "/v1/tree/a/b:raw", "GET /v1/tree/{path=**}:raw"],
    ["GET", "/v1/tree:raw", "GET /v1/tree/{path=**}:raw"],
  ])("finds %s %s", (method, path, expected) => {
    expect(find(method, path)).toBe(expected);
  });

  it.each([
    ["/v1/none", undefined],
    ["/v1/skills", "GET, HEAD, POST, OPTIONS"],
    ["/v1/skills/special", "GET, HEAD, POST, DELETE, OPTIONS"],
    ["/v1/any", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
  ])("allows at %s: %s", (path, expected) => {
    expect(router.allow(path)).toBe(expected);
  });

  it("finds the same route as trying all templates in the match order [COMP-4]", () => {
    const literal = fc.constantFrom("a", "b");
    const template = fc.record({
      segments: fc.array(
        fc.oneof(
          { weight: 3, arbitrary: literal.map((text) => ({ kind: "literal", text }) as const) },
          { weight: 2, arbitrary: fc.constant({ kind: "single" } as const) },
        ),
        { maxLength: 4 },
      ),
      isOpen: fc.boolean(),
      verb: fc.option(fc.constantFrom("v", "w"), { nil: undefined }),
      method: fc.constantFrom("GET", "POST", "*", "HEAD"),
    });
    const part = fc.constantFrom("a", "b", "c", "", "a:v", "b:w", ":v", "a:v:w", "a%62");
    const request = fc.record({
      segments: fc.array(part, { maxLength: 5 }),
      method: fc.constantFrom("GET", "POST", "HEAD", "PUT"),
    });
    fc.assert(
      fc.property(
        fc.array(template, { maxLength: 24 }),
        request,
        (drafts, { segments, method }) => {
          const naive = new NaiveRouter();
          for (const { isOpen, verb, ...draft } of drafts) {
            const all = isOpen ? [...draft.segments, { kind: "multi" } as const] : draft.segments;
            // A verb is the end of a segment, so the root has none.
            const template: PathTemplate = {
              segments: all,
              variables: [],
              ...(verb === undefined || all.length === 0 ? {} : { verb }),
            };
            naive.add(template, draft.method);
          }
          const built = new Router(
            naive.routes.map(({ template, method }) => {
              const name = `${method} ${shapeOf(template)}`;
              const { verb } = template;
              const texts = template.segments.map(formatSegment);
              const shape = { segments: texts, method, ...(verb === undefined ? {} : { verb }) };
              return { shape, name, value: name };
            }),
          );
          const path = `/${segments.join("/")}`;
          // An empty segment alone is the root, which has none.
          const sent = path === "/" ? [] : segments;
          const found = built.find(method, path);
          expect(found?.value).toBe(naive.find(method, sent));
          if (found !== undefined) expect(found.segments).toEqual(sent);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("is fast even if every segment has two branches", () => {
    const texts = ["GET", "POST"].flatMap((method) =>
      Array.from(
        { length: 12 },
        (_, length) =>
          `${method} /${Array.from({ length: length + 1 }, (_, at) => (at % 2 === 0 ? "a" : `{x${at}}`)).join("/")}/end`,
      ),
    );
    const many = routerOf(...texts);
    const path = "/a".repeat(2_000);
    const cost = cpuMilliseconds(() => {
      for (let run = 0; run < 1_000; run++) expect(many.find("GET", path)).toBeUndefined();
    });
    // Two ways at each of 2,000 segments would never end.
    expect(cost).toBeLessThan(20_000);
  });
});

/** Templates sorted by the match order, and matched one by one by the words of their documentation. */
class NaiveRouter {
  routes: { template: PathTemplate; method: string }[] = [];

  add(template: PathTemplate, method: string): void {
    const isTaken = this.routes.some(
      (route) => route.method === method && shapeOf(route.template) === shapeOf(template),
    );
    if (!isTaken) this.routes.push({ template, method });
  }

  find(method: string, segments: readonly string[]): string | undefined {
    const sorted = [...this.routes].sort(
      (left, right) =>
        compareTemplates(left.template, right.template) ||
        rank(left.method, method) - rank(right.method, method),
    );
    const found = sorted.find(
      (route) => rank(route.method, method) < 3 && matches(route.template, segments),
    );
    return found && `${found.method} ${shapeOf(found.template)}`;
  }
}

function rank(declared: string, method: string): number {
  if (declared === method) return 0;
  if (declared === "GET" && method === "HEAD") return 1;
  return declared === "*" ? 2 : 3;
}

function matches({ segments, verb }: PathTemplate, path: readonly string[]): boolean {
  const rest = [...path];
  if (verb !== undefined) {
    const last = rest.pop();
    if (last === undefined || !last.endsWith(`:${verb}`)) return false;
    rest.push(last.slice(0, -verb.length - 1));
  }
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === "multi") return rest.length >= index;
    const text = rest[index];
    if (text === undefined) return false;
    if (segment.kind === "single" ? text === "" : text !== segment.text) return false;
  }
  return rest.length === segments.length;
}
