/** A page whose name was rebound to this machine has nobody's rights in development. */
import { describe, expect, test } from "vitest";
import { GATEWAY, INTERNAL_TOKEN, type SentHeaders, SYSTEM_TOKEN } from "./calls.ts";
import { stagesOf } from "./stages.ts";

const LOCAL = { address: "127.0.0.1", certificateNames: [] };
const AUTHN = {
  internal_call: { enabled: true, token: INTERNAL_TOKEN, system_token: SYSTEM_TOKEN },
};
const REFUSED = /^403 FORBIDDEN: in development, callers on this machine must call localhost/;
const development = stagesOf(
  { ...AUTHN, gateway: { trusted_peers: [] } },
  { environment: "development" },
);
const ALICE = ["x-svc-external-sub", "alice"] as const;

describe.each<[string, SentHeaders[number]]>([
  ["identity headers", ALICE],
  ["an internal token", ["x-svc-internal-token", INTERNAL_TOKEN]],
  ["a system token", ["x-svc-internal-token", SYSTEM_TOKEN]],
])("in development, %s", (_, credential) => {
  const exposure = credential[1] === INTERNAL_TOKEN ? "INTERNAL" : "AUTHENTICATED";
  const call = (host: SentHeaders[number], peer = LOCAL) =>
    development.outcome({
      headers: [host, credential],
      peer,
      exposure: credential[1] === SYSTEM_TOKEN ? "SYSTEM" : exposure,
    });

  test.each([
    "evil.example",
    "evil.example:18080",
    "EVIL.example.",
    "localhost.evil.example",
    "127.0.0.1.evil.example:18080",
    "127.0.0.1.",
  ])("are not accepted for the host %s", async (host) => {
    expect(await call(["host", host])).toMatch(REFUSED);
    expect(await call([":authority", host])).toMatch(REFUSED);
  });

  test.each([
    "localhost",
    "localhost:18080",
    "LOCALHOST:18080",
    "app.localhost:3000",
    "127.0.0.1:18080",
    "[::1]:18080",
    "iam:18080",
  ])("are accepted for the host %s", async (host) => {
    expect(await call(["host", host])).toBe("passed");
  });

  test("are accepted without a host", async () => {
    expect(await call(["accept", "*/*"])).toBe("passed");
  });
});

test.each<[string, Record<string, unknown>, object]>([
  ["where the gateway is named", { trusted_peers: ["127.0.0.1"] }, LOCAL],
  ["from another machine", { trusted_peers: ["10.1.2.0/24"] }, GATEWAY],
])("other hosts are accepted %s", async (_, gateway, peer) => {
  const stages = stagesOf({ ...AUTHN, gateway }, { environment: "development" });
  const headers = [ALICE, ["host", "app.example.com"]] as const;
  expect(await stages.outcome({ headers, peer: peer as typeof LOCAL })).toBe("passed");
});

test("other hosts are accepted outside of development", async () => {
  const stages = stagesOf({ ...AUTHN, gateway: { trusted_peers: ["127.0.0.1"] } });
  const headers = [ALICE, ["host", "app.example.com"]] as const;
  expect(await stages.outcome({ headers, peer: LOCAL })).toBe("passed");
});
