/** Values for gateway files are rejected if nothing can have them. */
import { describe, expect, test } from "vitest";
import { findingsOf } from "./findings.ts";
import { platformWith } from "./sample.ts";

const ENDPOINTS = "services.iam.backend.backend.endpoints";
const at = (place: string, value: unknown) => findingsOf(platformWith(place, value)).join("\n");

describe("refused", () => {
  test.each<readonly [place: string, value: unknown]>([
    ...["a\n::x", "*.x", "", "http://x", "x:80", "[::1]", "a b", "10.0.0.7/8"].map(
      (address) => [ENDPOINTS, [{ address, port: 80 }]] as const,
    ),
    ...["", " ", " acme", "acme ", "ac\nme", "ac\u202eme", "ac\u200bme", "\u2028"].map(
      (owner) => ["identity.allowed_owners", [owner]] as const,
    ),
    ["identity.allowed_owners", ["acme", "acme"]],
    ["frontends.web.redirect_url", "https://user:pass@hub.example.com/callback"],
    ["frontends.web.redirect_url", "https://hub.example.com/a/../callback"],
    ["frontends.web.redirect_url", "https://hub.example.com/a/%2E%2e/callback"],
    ["frontends.web.redirect_url", "https://hub.example.com//callback"],
    ["frontends.web.redirect_url", "http://hub.example.com/callback"],
    ["frontends.web.logout_path", "/%6cogout"],
    ["frontends.web.logout_path", "/a/./logout"],
    ["frontends.web.logout_path", "//logout"],
    ["edge.login_timeout", "1ms"],
    ["edge.login_timeout", "29s"],
  ])("%s: %j", (place, value) => expect(at(place, value)).not.toBe(""));
});

describe("accepted", () => {
  test.each<readonly [place: string, value: unknown]>([
    ...["10.0.0.7", "::1", "fd00::1", "iam", "iam.internal.example.com"].map(
      (address) => [ENDPOINTS, [{ address, port: 80 }]] as const,
    ),
    ["identity.allowed_owners", ["Größe GmbH", "acme"]],
    ["frontends.web.redirect_url", "https://hub.example.com/a%20b/callback/"],
    ["frontends.web.logout_path", "/log%2Fout"],
    ["edge.login_timeout", "30s"],
  ])("%s: %j", (place, value) => expect(at(place, value)).toBe(""));
});
