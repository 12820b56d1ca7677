import { describe, expect, test } from "vitest";
import { GATEWAY, type SentHeaders, STRANGER, type TestCall } from "./calls.ts";
import { JwtWorld } from "./jwt/jwt-world.ts";
import { stagesOf } from "./stages.ts";

const REFUSED = "403 FORBIDDEN: the request comes from another site";
const ALICE: SentHeaders = [["x-svc-external-sub", "alice"]];
const rest = {
  server: {
    http: {
      address: "127.0.0.1:0",
      cors: { allowed_origins: ["https://App.example.org", "http://dev.example.org:80"] },
    },
  },
};
const stages = stagesOf({ internal_call: { enabled: true, token: "0123456789abcdef" } }, rest);
const post = (headers: SentHeaders, more: TestCall = {}) =>
  stages.outcome({
    httpMethod: "POST",
    ...more,
    headers: [...ALICE, ["host", "api.example.com"], ...headers],
  });

describe("unsafe methods with the gateway's session [HDR-9]", () => {
  test.each<[string, SentHeaders]>([
    ["another site", [["sec-fetch-site", "cross-site"]]],
    [
      "another site, from an allowed origin",
      [
        ["sec-fetch-site", "cross-site"],
        ["origin", "https://app.example.org"],
      ],
    ],
    [
      "one of two values is another site",
      [
        ["sec-fetch-site", "same-origin"],
        ["sec-fetch-site", "cross-site"],
      ],
    ],
    ["another site, in other case", [["sec-fetch-site", "Cross-Site"]]],
    ["another origin", [["origin", "https://evil.example"]]],
    [
      "a sibling",
      [
        ["sec-fetch-site", "same-site"],
        ["origin", "https://evil.example.com"],
      ],
    ],
    ["41 origin null", [["origin", "null"]]],
    [
      "origin null of another site",
      [
        ["sec-fetch-site", "cross-site"],
        ["origin", "null"],
      ],
    ],
    [
      "origin null of a sibling",
      [
        ["sec-fetch-site", "same-site"],
        ["origin", "null"],
      ],
    ],
    [
      "origin null with two values of the site",
      [
        ["sec-fetch-site", "same-origin"],
        ["sec-fetch-site", "same-origin"],
        ["origin", "null"],
      ],
    ],
    [
      "origin null and another origin",
      [
        ["sec-fetch-site", "same-origin"],
        ["origin", "null"],
        ["origin", "https://evil.example"],
      ],
    ],
    [
      "41 an origin that starts with our host",
      [["origin", "https://api.example.com.evil.example"]],
    ],
    ["41 an origin that ends with our host", [["origin", "https://evilapi.example.com"]]],
    ["an origin with userinfo", [["origin", "https://api.example.com@evil.example"]]],
    ["text in front of our origin", [["origin", "xhttps://api.example.com"]]],
    ["a path after our origin", [["origin", "https://api.example.com/"]]],
    ["another port", [["origin", "https://api.example.com:8443"]]],
    ["another scheme", [["origin", "ftp://api.example.com"]]],
    ["an empty origin", [["origin", ""]]],
    [
      "two origins",
      [
        ["origin", "https://api.example.com"],
        ["origin", "https://evil.example"],
      ],
    ],
    ["two origins joined", [["origin", "https://api.example.com, https://evil.example"]]],
    [
      "13 an origin that X-Forwarded-Host names",
      [
        ["origin", "https://evil.example"],
        ["x-forwarded-host", "evil.example"],
      ],
    ],
    [
      "14 plain HTTP if the gateway uses TLS",
      [
        ["origin", "http://api.example.com"],
        ["x-forwarded-proto", "https"],
      ],
    ],
    [
      "two hosts",
      [
        ["host", "evil.example"],
        ["origin", "https://evil.example"],
      ],
    ],
  ])("%s", async (_name, headers) => {
    for (const httpMethod of ["POST", "PUT", "PATCH", "DELETE", "post", "X"]) {
      expect(await post(headers, { httpMethod })).toBe(REFUSED);
    }
    expect(await post(headers, { exposure: "PUBLIC" })).toBe(REFUSED);
    for (const httpMethod of ["GET", "HEAD", "OPTIONS"]) {
      expect(await post(headers, { httpMethod })).toBe("passed");
    }
    expect(await post(headers, { transport: "grpc", httpMethod: "POST" })).toBe(REFUSED);
    expect(await post(headers, { peer: STRANGER, exposure: "PUBLIC" })).toBe("passed");
    expect(await post([...headers, ["x-svc-internal-token", "0123456789abcdef"]])).toBe("passed");
  });

  test.each<[string, SentHeaders]>([
    ["no browser", []],
    [
      "the same origin",
      [
        ["sec-fetch-site", "same-origin"],
        ["origin", "https://api.example.com"],
      ],
    ],
    [
      "the same origin, hidden since its page has Referrer-Policy: no-referrer",
      [
        ["sec-fetch-site", "same-origin"],
        ["origin", "null"],
      ],
    ],
    ["the same origin with its port", [["origin", "https://API.example.com:443"]]],
    [
      "an origin of the CORS list",
      [
        ["sec-fetch-site", "same-site"],
        ["origin", "https://app.example.org"],
      ],
    ],
    ["an origin of the list with its default port", [["origin", "http://dev.example.org"]]],
    [
      "the scheme of the gateway",
      [
        ["origin", "https://api.example.com"],
        ["x-forwarded-proto", "https"],
      ],
    ],
    [
      "the scheme of the gateway, in other case",
      [
        ["origin", "https://api.example.com"],
        ["x-forwarded-proto", "HTTPS"],
      ],
    ],
    ["plain HTTP, without X-Forwarded-Proto", [["origin", "http://api.example.com"]]],
    ["plain HTTP with its port", [["origin", "http://api.example.com:80"]]],
    ["typed by the user", [["sec-fetch-site", "none"]]],
  ])("%s passes", async (_name, headers) => {
    expect(await post(headers)).toBe("passed");
  });
});

describe("a request without a Host header", () => {
  const outcome = (headers: SentHeaders) =>
    stages.outcome({ httpMethod: "POST", headers: [...ALICE, ...headers] });

  test("has no own origin", async () => {
    for (const origin of ["https://evil.example", "https://undefined", "https://null"]) {
      expect(await outcome([["origin", origin]])).toBe(REFUSED);
    }
    expect(await outcome([["origin", "https://app.example.org"]])).toBe("passed");
  });

  test("has its host in the authority of HTTP/2", async () => {
    const authority = [":authority", "api.example.com"] as const;
    expect(await outcome([authority, ["origin", "https://api.example.com"]])).toBe("passed");
    expect(await outcome([authority, ["origin", "https://evil.example"]])).toBe(REFUSED);
  });
});

describe("a session cookie", () => {
  const principal = { subjectId: "carol" } as never;
  const cookie = {
    name: "cookie",
    authenticate: () => ({ principal, credential: "cookie" as const }),
  };
  const sessions = stagesOf({}, rest, { authenticators: [cookie] });
  const outcome = (headers: SentHeaders, peer = STRANGER) =>
    sessions.outcome({
      httpMethod: "POST",
      peer,
      headers: [["host", "api.example.com"], ...headers],
    });

  test("is ignored if another site causes the request", async () => {
    expect(await outcome([["sec-fetch-site", "cross-site"]])).toBe(REFUSED);
    expect(await outcome([["origin", "https://evil.example"]])).toBe(REFUSED);
    expect(await outcome([["origin", "null"]])).toBe(REFUSED);
    expect(await outcome([["origin", "https://api.example.com"]])).toBe("passed");
    expect(await outcome([["origin", "https://app.example.org"]])).toBe("passed");
  });

  test("14 is checked without X-Forwarded-Proto of an untrusted peer", async () => {
    const headers: SentHeaders = [
      ["origin", "https://api.example.com"],
      ["x-forwarded-proto", "http"],
    ];
    expect(await outcome(headers)).toBe("passed");
    expect(await outcome(headers, GATEWAY)).toBe(REFUSED);
  });
});

describe("access tokens", () => {
  test("that the gateway may have derived from its session are checked, too", async () => {
    const world = await JwtWorld.create({});
    const call = (headers: SentHeaders, more: TestCall = {}) =>
      world.outcome(world.token(), {
        httpMethod: "POST",
        ...more,
        headers: [["host", "api.example.com"], ...headers],
      });
    expect(await call([["sec-fetch-site", "cross-site"]])).toBe(REFUSED);
    expect(await call([["origin", "https://evil.example"]])).toBe(REFUSED);
    expect(await call([["origin", "https://evil.example"]], { peer: STRANGER })).toBe("passed");
    expect(
      await call([
        ["sec-fetch-site", "cross-site"],
        ["origin", "https://api.example.com"],
      ]),
    ).toBe("passed");
    expect(await call([])).toBe("passed");
    await world.close();
  });
});

test("a write with an additional GET binding is still checked as a write", async () => {
  const crossSite: SentHeaders = [["sec-fetch-site", "cross-site"]];
  for (const httpMethod of ["GET", "HEAD"]) {
    expect(await post(crossSite, { httpMethod, isWrite: true })).toBe(REFUSED);
    expect(await post(crossSite, { httpMethod })).not.toBe(REFUSED);
    expect(await post([], { httpMethod, isWrite: true })).not.toBe(REFUSED);
  }
});
