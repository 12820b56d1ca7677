import { expect, test } from "vitest";
import { formFields, formParameters, isFromAnotherSite } from "../../src/pages/sent-forms.ts";

const OWN = "https://iam.example.com";

const from = (method: string, sites: readonly string[], origins: readonly string[]) => {
  const values: Readonly<Record<string, readonly string[]>> = {
    "sec-fetch-site": sites,
    origin: origins,
  };
  const headers = { all: (name: string) => values[name] ?? [] };
  return isFromAnotherSite({ method, headers } as never, OWN);
};

test.each<[string, readonly string[], readonly string[]]>([
  ["another site", ["cross-site"], []],
  ["a sibling", ["same-site"], [OWN]],
  ["no page at all, as a bookmark", ["none"], []],
  ["one of two values that is another site", ["same-origin", "cross-site"], []],
  ["another origin", [], ["https://evil.example"]],
  ["another origin although the site is ours", ["same-origin"], ["https://evil.example"]],
  ["two origins", ["same-origin"], [OWN, "https://evil.example"]],
  ["an origin in another case", [], ["https://IAM.example.com"]],
  ["a hidden origin, of a browser that does not name the site", [], ["null"]],
  ["a hidden origin of another site", ["cross-site"], ["null"]],
  ["a hidden origin with two values", ["same-origin", "same-origin"], ["null"]],
])("a form of %s is refused [IDP-12]", (_, sites, origins) => {
  expect(from("POST", sites, origins)).toBe(true);
  expect(from("GET", sites, origins)).toBe(false);
});

test.each<[string, readonly string[], readonly string[]]>([
  ["our page", ["same-origin"], [OWN]],
  ["our page, whose origin is hidden by its Referrer-Policy", ["same-origin"], ["null"]],
  ["our page, of a browser that names its origin only", [], [OWN]],
  ["a program", [], []],
])("a form of %s is accepted", (_, sites, origins) => {
  expect(from("POST", sites, origins)).toBe(false);
});

test.each([
  ["?password=x", [["?password", "x"]]],
  [
    "??=x&b=%3F",
    [
      ["??", "x"],
      ["b", "?"],
    ],
  ],
  [
    "a=1&a=2",
    [
      ["a", "1"],
      ["a", "2"],
    ],
  ],
  ["", []],
])("the form %j is read whole, also a question mark at its start", async (text, fields) => {
  const body = Buffer.from(text);
  const headers = { all: () => ["application/x-www-form-urlencoded"] };
  const request = { headers, body: async () => body } as never;
  expect([...(await formFields(request))]).toEqual(fields);
  expect([...formParameters(body)]).toEqual(fields);
});
