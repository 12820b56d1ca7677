/** `frontends.*.login`: the keys of a frontend with and without a login of its users. */
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { fullPlatform } from "./sample.ts";

const {
  client_id,
  client_secret,
  redirect_url,
  logout_path,
  deny_redirect,
  backend,
  prefix,
  ...common
} = fullPlatform().frontends.web;
const bearer = { ...common, login: "bearer", audiences: ["cli"] };

/** The errors of a platform with only this frontend. */
function findingsOf(web: object, paths: readonly object[] = []): string[] {
  const text = JSON.stringify({ ...fullPlatform(), frontends: { web }, paths });
  const result = loadConfig(text, "svc-access.yaml", {});
  return result.loaded !== undefined ? [] : result.diagnostics.map(({ message }) => message);
}

describe("login: bearer", () => {
  test("needs no client", () => {
    expect(findingsOf(bearer)).toEqual([]);
    expect(findingsOf({ ...bearer, prefix: "/" })).toEqual([]);
    expect(
      findingsOf({ ...bearer, audiences: Array.from({ length: 8 }, (_, index) => `a${index}`) }),
    ).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ["none", undefined, "frontends.web.audiences is missing"],
    ["an empty list", [], "frontends.web.audiences must have at least 1 item"],
    ["an empty text", [""], "frontends.web.audiences[0] must have at least 1 character"],
    [
      "more than the gateway takes",
      Array.from({ length: 9 }, String),
      "frontends.web.audiences must have at most 8 items",
    ],
  ])("refuses %s as audiences: any token of the issuer would pass", (_name, audiences, message) => {
    expect(findingsOf({ ...bearer, audiences })).toEqual([expect.stringContaining(message)]);
  });

  test.each<[string, unknown]>([
    ["client_id", client_id],
    ["client_secret", client_secret],
    ["redirect_url", redirect_url],
    ["logout_path", logout_path],
    ["deny_redirect", deny_redirect],
    ["backend", backend],
    ["prefix", prefix],
  ])("contradicts %s", (key, value) => {
    expect(findingsOf({ ...bearer, [key]: value })).toEqual([
      expect.stringMatching(new RegExp(`^frontends\\.web\\.${key} contradicts login: bearer`)),
    ]);
  });

  test("serves no declared paths", () => {
    const path = { frontend: "web", path: "/about", exposure: "PUBLIC" };
    expect(findingsOf(bearer, [path])).toEqual([
      "the frontend web has login: bearer, so it serves no path; set service to the service that serves /about",
    ]);
  });
});

test("login: session has no audiences: it accepts tokens of its client", () => {
  const web = { ...fullPlatform().frontends.web, audiences: ["cli"] };
  expect(findingsOf(web)).toEqual([
    "frontends.web.audiences is only for login: bearer; a session accepts tokens for its client_id",
  ]);
});
