/** A page whose name was rebound to this machine cannot use the tokens of examples in development. */
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { rebindingGuard } from "../../../src/runtime/authn/rebinding-guard.ts";
import type { Peer } from "../../../src/runtime/peer/peer.ts";
import {
  callOf,
  configOf,
  GATEWAY,
  INTERNAL_TOKEN,
  outcomeOf,
  type SentHeaders,
  SYSTEM_TOKEN,
} from "./calls.ts";
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
    "iam.",
    "evillocalhost.",
    "localhost..",
  ])("are not accepted for the host %s", async (host) => {
    expect(await call(["host", host])).toMatch(REFUSED);
    expect(await call([":authority", host])).toMatch(REFUSED);
  });

  test.each([
    "localhost",
    "localhost:18080",
    "LOCALHOST:18080",
    "app.localhost:3000",
    "localhost.",
    "localhost.:18080",
    "app.localhost.",
    "127.0.0.1:18080",
    "[::1]:18080",
    "iam:18080",
  ])("are accepted for the host %s", async (host) => {
    expect(await call(["host", host])).toBe("passed");
  });

  test.each<SentHeaders>([
    [
      ["host", "evil.example"],
      ["host", "localhost"],
    ],
    [
      ["host", "localhost"],
      ["host", "evil.example"],
    ],
    [
      [":authority", "localhost"],
      ["host", "evil.example"],
    ],
    [
      [":authority", "evil.example"],
      ["host", "localhost"],
    ],
  ])("are not accepted for two hosts of which one is a site: %j %j", async (...hosts) => {
    const exposure = credential[1] === SYSTEM_TOKEN ? "SYSTEM" : "INTERNAL";
    const headers = [...hosts, credential];
    expect(await development.outcome({ headers, peer: LOCAL, exposure })).toMatch(REFUSED);
  });

  test("are accepted without a host", async () => {
    expect(await call(["accept", "*/*"])).toBe("passed");
  });
});

describe("an address of this machine", () => {
  const config = configOf({ gateway: { trusted_peers: [] } }, { environment: "development" });
  const own = ["192.168.1.5", "2001:db8::5", "fe80::5"];
  const outcome = (address: string, host: string, guard = rebindingGuard(config, () => own)) =>
    outcomeOf(() => {
      const peer = { address, certificateNames: [] };
      const call = callOf({ headers: [["host", host]], peer, exposure: "INTERNAL" });
      call.credential = "internal";
      guard?.(call);
    });

  test.each(["192.168.1.5", "2001:db8::5", "fe80::5%eth0", "127.0.0.2", "::1"])(
    "such as %s, is guarded as the loopback ones are",
    async (address) => {
      expect(await outcome(address, "evil.example")).toMatch(REFUSED);
      expect(await outcome(address, "localhost")).toBe("passed");
      expect(await outcome(address, "192.168.1.5:18080")).toBe("passed");
    },
  );

  test.each(["192.168.1.6", "2001:db8::6", "fe80::6%eth0", ""])("is not %s", async (address) => {
    expect(await outcome(address, "evil.example")).toBe("passed");
  });

  const found = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  test.each(found.map(({ address }) => address))("is %s here", async (address) => {
    expect(await outcome(address, "evil.example", rebindingGuard(config))).toMatch(REFUSED);
  });

  test("is read again for each connection", async () => {
    const now = ["10.0.0.7"];
    const guard = rebindingGuard(config, () => now);
    expect(await outcome("10.0.0.8", "evil.example", guard)).toBe("passed");
    now.push("10.0.0.8");
    expect(await outcome("10.0.0.8", "evil.example", guard)).toMatch(REFUSED);
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
