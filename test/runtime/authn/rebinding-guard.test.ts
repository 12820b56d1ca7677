/** A page whose name was rebound to this machine cannot use the tokens of examples in development. */
import { describe, expect, test } from "vitest";
import type { Peer } from "../../../src/runtime/peer/peer.ts";
import { GATEWAY, INTERNAL_TOKEN, type SentHeaders, SYSTEM_TOKEN } from "./calls.ts";
import { stagesOf } from "./stages.ts";

const LOCAL = { address: "127.0.0.1", certificateNames: [] };
const AUTHN = {
  internal_call: { enabled: true, token: INTERNAL_TOKEN, system_token: SYSTEM_TOKEN },
};
const REFUSED =
  /^403 FORBIDDEN: in development, internal tokens are accepted on this machine for localhost/;
const development = stagesOf(
  { ...AUTHN, gateway: { trusted_peers: [] } },
  { environment: "development" },
);
const ALICE = ["x-svc-external-sub", "alice"] as const;

describe.each<[string, SentHeaders[number]]>([
  ["an internal token", ["x-svc-internal-token", INTERNAL_TOKEN]],
  ["a system token", ["x-svc-internal-token", SYSTEM_TOKEN]],
])("in development, %s", (_, credential) => {
  const call = (host: SentHeaders[number], peer = LOCAL) =>
    development.outcome({
      headers: [host, credential],
      peer,
      exposure: credential[1] === SYSTEM_TOKEN ? "SYSTEM" : "INTERNAL",
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

const TOKEN = ["x-svc-internal-token", INTERNAL_TOKEN] as const;
const OTHER_HOST = ["host", "app.example.com"] as const;

test("a gateway on this machine passes on other hosts", async () => {
  const headers = [ALICE, OTHER_HOST];
  expect(await development.outcome({ headers, peer: LOCAL })).toBe("passed");
});

test.each<[string, string, readonly string[], Peer]>([
  ["where peers are named", "development", ["127.0.0.1"], LOCAL],
  ["from another machine", "development", [], GATEWAY],
  ["outside of development", "staging", ["127.0.0.1"], LOCAL],
])("a token is accepted for other hosts %s", async (_, environment, peers, peer) => {
  const stages = stagesOf({ ...AUTHN, gateway: { trusted_peers: peers } }, { environment });
  const headers = [TOKEN, OTHER_HOST];
  expect(await stages.outcome({ headers, peer, exposure: "INTERNAL" })).toBe("passed");
});
