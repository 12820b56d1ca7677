import { expect, test } from "vitest";
import { bindRawHandlers } from "../../../src/runtime/server/bind-raw-handlers.ts";

const HOOK = "/v1/notes/hook";
const handle = () => ({ status: 200 });
const declared = (...paths: [method: string, exposure: string][]) =>
  paths.map(([method, exposure]) => {
    const path = { path: HOOK, match: "exact", methods: [method] } as const;
    return { ...path, exposure: exposure as "PUBLIC" };
  });

test("one handler serves all declared methods of a path, each with its exposure", () => {
  const paths = declared(["GET", "PUBLIC"], ["POST", "AUTHENTICATED"]);
  const { methods, problems } = bindRawHandlers([{ path: HOOK, handle }], paths, 4);
  expect(problems).toEqual([]);
  const bound = methods.map(({ method, path }) => {
    return [method.index, method.isWrite, method.policy.exposure, ...path.methods];
  });
  expect(bound).toEqual([
    [4, false, "PUBLIC", "GET"],
    [5, true, "AUTHENTICATED", "POST"],
  ]);
});

test.each([
  [
    "of an undeclared path",
    [{ path: "/v1/other", handle }],
    /^the raw handler of \/v1\/other has no/,
  ],
  ["twice", [HOOK, HOOK].map((path) => ({ path, handle })), /^there are two raw handlers of/],
])("a raw handler %s is a problem", (_, handlers, problem) => {
  const { problems } = bindRawHandlers(handlers, declared(["GET", "PUBLIC"]), 0);
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

test("a raw handler is a problem if a declaration of its path has an exposure that handlers cannot have", () => {
  const paths = declared(["GET", "PUBLIC"], ["POST", "INTERNAL"]);
  const { methods, problems } = bindRawHandlers([{ path: HOOK, handle }], paths, 0);
  expect(problems).toEqual([
    `the declared path ${HOOK} is INTERNAL; a raw handler is PUBLIC or AUTHENTICATED`,
  ]);
  expect(methods).toEqual([]);
});
