import { expect, test } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { originForm } from "../../../../src/runtime/http/routing/request-target.ts";

test.each([
  ["http", "https://vault/a"],
  ["https", "http://vault/a"],
  ["https", "https://evil/a"],
  ["https", "https://vault@evil/a"],
  ["https", "https://vault\\/a"],
  ["https", "https:///a"],
] as const)("over %s the target %s is refused", (scheme, target) => {
  expect(() => originForm(target, "GET", scheme, "vault")).toThrow(ServiceError);
  expect(() => originForm(target, "GET", scheme, undefined)).toThrow(ServiceError);
});

test.each([
  ["https://vault/a", "GET", "/a"],
  ["HTTPS://VAULT/A?b=http://c/#", "GET", "/A?b=http://c/#"],
  ["https://vault", "OPTIONS", "*"],
  ["https://vault", "GET", "/"],
  ["https://vault?a", "OPTIONS", "/?a"],
  // The form is that of an origin already, or one that the next check refuses.
  ["/https://evil/a", "GET", "/https://evil/a"],
  ["*", "OPTIONS", "*"],
  ["evil:443", "CONNECT", "evil:443"],
  ["https:/evil/a", "GET", "https:/evil/a"],
  ["", "GET", ""],
])("over TLS the target %s of %s is %s", (target, method, form) => {
  expect(originForm(target, method, "https", "vault")).toBe(form);
});
