import { StartUpError } from "svc-access/runtime";
import { expect, test } from "vitest";
import { issuerAt } from "../src/issuer.ts";

test.each([
  ["", "no text"],
  ["iam.example.com", "a host"],
  ["https://iam.example.com/", "a path"],
  ["http://iam.example.com", "plain text"],
  ["ftp://localhost", "another protocol"],
])("%j is refused: %s", (origin) => {
  expect(() => issuerAt(origin)).toThrow(StartUpError);
});

test.each([
  ["https://iam.example.com", "https://iam.example.com/v1/iam/oidc"],
  ["http://localhost:18080", "http://localhost:18080/v1/iam/oidc"],
])("the issuer at %s is %s", (origin, issuer) => {
  expect(issuerAt(origin)).toBe(issuer);
});
