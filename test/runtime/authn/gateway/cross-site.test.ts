import { describe, expect, test } from "vitest";
import { GATEWAY, type SentHeaders, STRANGER, type TestCall } from "../calls.ts";
import { JwtWorld } from "../jwt/jwt-world.ts";
import { stagesOf } from "../stages.ts";

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

describe("unsafe methods in the name of the gateway's session [HDR-9]", () => {
  test.each<[string, SentHeaders]>([
    ["another site", [["sec-fetch-site", "cross-site"]]],
    [
      "another site, from an origin of ours",
      [
        ["sec-fetch-site", "cross-site"],
        ["origin", "https://app.example.org"],
      ],
    ],
    [
      "one of two says another site",
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
    ["41 an origin with our host before", [["origin", "https://api.example.com.evil.example"]]],
    ["41 an origin with our host after", [["origin", "https://evilapi.example.com"]]],
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
      "13 X-Forwarded-Host names it",
      [
        ["origin", "https://evil.example"],
        ["x-forwarded-host", "evil.example"],
      ],
    ],
    [
      "14 plain HTTP where the gateway has TLS",
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
    ["the same origin with its port", [["origin", "https://API.example.com:443"]]],
    [
      "an origin of the CORS list",
      [
        ["sec-fetch-site", "same-site"],
        ["origin", "https://app.example.org"],
      ],
    ],
    ["one with its default port", [["origin", "http://dev.example.org"]]],
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
    ["plain HTTP, where nobody says that it was another", [["origin", "http://api.example.com"]]],
    ["plain HTTP with its port", [["origin", "http://api.example.com:80"]]],
    ["typed by the user", [["sec-fetch-site", "none"]]],
  ])("%s passes", async (_name, headers) => {
    expect(await post(headers)).toBe("passed");
  });
});

describe("a request that says no host of its own", () => {
  const outcome = (headers: SentHeaders) =>
    stages.outcome({ httpMethod: "POST", headers: [...ALICE, ...headers] });

  test("has no origin of its own", async () => {
    for (const origin of ["https://evil.example", "https://undefined", "https://null"]) {
      expect(await outcome([["origin", origin]])).toBe(REFUSED);
    }
    expect(await outcome([["origin", "https://app.example.org"]])).toBe("passed");
  });

  test("says it by HTTP/2 in its authority", async () => {
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
  const sessions = stagesOf({}, rest, { further: [cookie] });
  const outcome = (headers: SentHeaders, peer = STRANGER) =>
    sessions.outcome({
      httpMethod: "POST",
      peer,
      headers: [["host", "api.example.com"], ...headers],
    });

  test("counts for nothing where another site sends it along", async () => {
    expect(await outcome([["sec-fetch-site", "cross-site"]])).toBe(REFUSED);
    expect(await outcome([["origin", "https://evil.example"]])).toBe(REFUSED);
    expect(await outcome([["origin", "null"]])).toBe(REFUSED);
    expect(await outcome([["origin", "https://api.example.com"]])).toBe("passed");
    expect(await outcome([["origin", "https://app.example.org"]])).toBe("passed");
  });

  test("14 is not judged by X-Forwarded-Proto of a peer that is not trusted", async () => {
    const headers: SentHeaders = [
      ["origin", "https://api.example.com"],
      ["x-forwarded-proto", "http"],
    ];
    expect(await outcome(headers)).toBe("passed");
    expect(await outcome(headers, GATEWAY)).toBe(REFUSED);
  });
});

describe("access tokens", () => {
  test("that the gateway may have made of its session are looked at, too", async () => {
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

test("a write that is bound to GET as well is not a safer by that", async () => {
  const crossSite: SentHeaders = [["sec-fetch-site", "cross-site"]];
  for (const httpMethod of ["GET", "HEAD"]) {
    expect(await post(crossSite, { httpMethod, isWrite: true })).toBe(REFUSED);
    expect(await post(crossSite, { httpMethod })).not.toBe(REFUSED);
    expect(await post([], { httpMethod, isWrite: true })).not.toBe(REFUSED);
  }
});
