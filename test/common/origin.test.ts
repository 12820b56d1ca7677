/** The configurations of the platform and of services and the route documents accept the same origins. */
import { describe, expect, test } from "vitest";
import { frontend } from "../../src/config/frontend-config.ts";
import { origin } from "../../src/runtime/configuration/service-config-values.ts";
import { parseRouteDocument } from "../../src/runtime/registry/route-entry.ts";

const allows: Readonly<Record<string, (text: string) => boolean>> = {
  "svc-access.yaml": (text) =>
    frontend.safeParse({
      host: "a.example.com",
      namespace: "a",
      login: "bearer",
      audiences: ["a"],
      allowed_origins: [text],
    }).success,
  "the configuration of a service": (text) => origin().safeParse(text).success,
  "a document of routes": (text) => {
    const document = { schemaVersion: 1, service: "a", keyPrefix: "", routes: [] };
    try {
      parseRouteDocument(JSON.stringify({ ...document, allowedOrigins: [text] }));
      return true;
    } catch {
      return false;
    }
  },
};

describe.each(Object.entries(allows))("%s", (_, allowed) => {
  test.each([
    "https://app.example.com",
    "http://localhost:3000",
    "https://App.Example.com:65535",
    "https://10.0.0.1:8443",
    "https://[::1]:8443",
    "https://xn--bcher-kva.example",
    "https://a--b.example",
  ])("allows %s", (text) => expect(allowed(text)).toBe(true));

  test.each([
    ..."*|null|https://*|https://*.example.com|https://user@host|https://user:pass@host".split("|"),
    ..."https://a.b/|https://a.b/c|https://a.b?c|https://a.b#c|//a.b|a.b|ftp://a.b".split("|"),
    ..."https://a.b:|https://a.b:0|https://a.b:65536|https://a.b:99999|https://a..b".split("|"),
    ..."https://.a|https://a.|https://-a|https://a-|https://a_b|https://a\\b|https://".split("|"),
    ..."https://a b|https://a.b\n|\nhttps://a.b|https://a.b, https://c|HTTPS://a.b".split("|"),
    ..."https://b\u00fccher.example|https://[::1|https://[::1]x|https://a%2eb|".split("|"),
    `https://${"a".repeat(300)}`,
  ])("refuses %j", (text) => expect(allowed(text)).toBe(false));
});
