import { describe, expect, test } from "vitest";
import { returnAddress } from "../../../src/login/browser/paths.ts";
import { Random } from "../../support/random.ts";

const ORIGIN = "https://iam.example.com";

describe("30 where a login does not lead [IDP-18]", () => {
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

test("random texts lead to this origin or nowhere", () => {
  const seed = Number(process.env["SVC_IAM_FUZZ_SEED"] ?? 1);
  const random = new Random(seed);
  const pieces = [
    "/",
    "\\",
    "../..",
    ".",
    "%2f",
    "%5C",
    "%09",
    "\t",
    "\n",
    " ",
    "@",
    ":",
    "?",
    "#",
  ];
  const words = ["evil.example", "https:", "//", "javascript:", "a", "%", "%2e", "\u2028", "ſ"];
  let accepted = 0;
  for (let count = 0; count < 50_000; count++) {
    const parts = Array.from({ length: 1 + random.below(7) }, () =>
      random.pick([...pieces, ...words]),
    );
    const text = (random.chance(60) ? "/" : "") + parts.join("");
    const found = returnAddress(ORIGIN, text);
    if (found === undefined) continue;
    accepted++;
    const url = new URL(found);
    // A server behind this one may decode its path and redirect to that.
    const decoded = URL.parse(safeDecoded(url.pathname), ORIGIN);
    expect([url.origin, decoded?.origin], `seed ${seed}: ${JSON.stringify(text)}`).toEqual([
      ORIGIN,
      ORIGIN,
    ]);
  }
  expect(accepted).toBeGreaterThan(100);
});

function safeDecoded(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)));
}
