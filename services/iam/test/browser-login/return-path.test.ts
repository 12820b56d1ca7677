import { describe, expect, test } from "vitest";
import { returnAddress } from "../../src/browser-login/return-path.ts";

const ORIGIN = "https://iam.example.com";

describe("30 where a login does not lead", () => {
  test.each([
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/%2f/evil.example",
    "/%2F%2Fevil.example",
    "%2f%2fevil.example",
    "/%5cevil.example",
    "/%09/evil.example",
    "/%0a/evil.example",
    "/%7f/evil.example",
    "/..//evil.example",
    "/.//evil.example",
    "/a/../..//evil.example",
    "/%2e%2e//evil.example",
    "/a/../%2fevil.example",
    "https://evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https://iam.example.com@evil.example/",
    "https://iam.example.com.evil.example/",
    "https://iam.example.com/",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "?//evil.example",
    "#//evil.example",
    "@evil.example",
    "/a\u0000b",
    "/a\r\nSet-Cookie: x=1",
    "/ä",
    "/\u2028/evil",
    `/${"a".repeat(1024)}`,
  ])("%j", (given) => {
    expect(returnAddress(ORIGIN, given)).toBeUndefined();
  });
});

test.each([
  [undefined, "/v1/iam/ui/account"],
  ["", "/v1/iam/ui/account"],
  ["/", "/"],
  ["/skills", "/skills"],
  ["/skills?q=a%20b&c=//d", "/skills?q=a%20b&c=//d"],
  ["/skills#part", "/skills#part"],
  ["/a/../b", "/b"],
  ["/@evil.example", "/@evil.example"],
  ["/a//b", "/a//b"],
  ["/https://evil.example", "/https://evil.example"],
  // These would begin or end the login again.
  ["/v1/iam/ui/login", "/v1/iam/ui/account"],
  ["/v1/iam/ui/login?return_to=/a", "/v1/iam/ui/account"],
  ["/v1/iam/logout", "/v1/iam/ui/account"],
  ["/v1/iam/oauth2/callback?code=c", "/v1/iam/ui/account"],
  ["/a/../v1/iam/logout", "/v1/iam/ui/account"],
])("%j leads to %j", (given, path) => {
  expect(returnAddress(ORIGIN, given)).toBe(`${ORIGIN}${path}`);
});
