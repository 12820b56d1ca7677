import { describe, expect, test } from "vitest";
import { clientAddress, requestInfoStage } from "../../../src/runtime/call/request-info.ts";
import { PeerTrust } from "../../../src/runtime/peer/peer-trust.ts";
import { cpuMilliseconds } from "../../support/cpu-time.ts";
import { callOf, GATEWAY, headersOf, STRANGER } from "../authn/calls.ts";

const { trust } = PeerTrust.read(["10.1.0.0/16", "fd00::/8"]);
const client = (...values: string[]) =>
  clientAddress(headersOf(values.map((value) => ["X-Forwarded-For", value])), "10.1.2.3", trust);

describe("3 the client's address, behind a trusted peer [HDR-8]", () => {
  test.each<[string, string[], string]>([
    ["no header", [], "10.1.2.3"],
    ["one hop", ["203.0.113.7"], "203.0.113.7"],
    ["entries of the client itself are ignored", ["1.1.1.1, 203.0.113.7"], "203.0.113.7"],
    ["trusted hops are skipped", ["1.1.1.1, 203.0.113.7, 10.1.0.9 ,10.1.0.8"], "203.0.113.7"],
    ["a forged trusted hop on the left", ["10.1.0.9, 203.0.113.7"], "203.0.113.7"],
    ["all are trusted", ["10.1.0.9, 10.1.0.8"], "10.1.0.9"],
    ["several headers are one list", ["1.1.1.1", "203.0.113.7", "10.1.0.8"], "203.0.113.7"],
    ["a port", ["203.0.113.7:4711"], "203.0.113.7"],
    ["IPv6", ["2001:DB8:0:0::7"], "2001:db8::7"],
    ["IPv6 in brackets", ["[2001:db8::7]"], "2001:db8::7"],
    ["IPv6 with port", ["[2001:db8::7]:4711, [fd00::1]:80"], "2001:db8::7"],
    ["IPv4 in IPv6", ["::ffff:203.0.113.7"], "203.0.113.7"],
    ["a trusted one in IPv6", ["203.0.113.7, ::ffff:10.1.0.1"], "203.0.113.7"],
    ["junk", ["203.0.113.7, unknown"], "10.1.2.3"],
    ["junk after a trusted hop", ["203.0.113.7, <script>, 10.1.0.8"], "10.1.0.8"],
    ["empty", [""], "10.1.2.3"],
    ["commas", [",,,"], "10.1.2.3"],
    ["a trailing comma", ["203.0.113.7,"], "10.1.2.3"],
    ["nothing in front of a trusted hop", ["203.0.113.7", ",10.1.0.8"], "10.1.0.8"],
    ["an empty header between two", ["203.0.113.7", "", "10.1.0.8"], "10.1.0.8"],
    ["the maximum number of hops", [`203.0.113.7${", 10.1.0.8".repeat(31)}`], "203.0.113.7"],
    ["one hop more", [`203.0.113.7${", 10.1.0.8".repeat(32)}`], "10.1.0.8"],
    ["text in front of an address", ["for=203.0.113.7"], "10.1.2.3"],
    ["text after an address", ["[2001:db8::7]x"], "10.1.2.3"],
    ["the smallest port", ["203.0.113.7:1"], "203.0.113.7"],
    ["the largest port", ["203.0.113.7:65535"], "203.0.113.7"],
    ["a port that is too long", ["203.0.113.7:123456"], "10.1.2.3"],
    ["an empty port", ["203.0.113.7:"], "10.1.2.3"],
    ["an octal address", ["0313.0.113.7"], "10.1.2.3"],
    ["a number", ["3405803783"], "10.1.2.3"],
    ["a wrong port", ["203.0.113.7:port"], "10.1.2.3"],
    ["a zone id", ["fe80::1%eth0"], "10.1.2.3"],
    ["a very long hop", ["1".repeat(100_000)], "10.1.2.3"],
    ["hundreds of trusted hops", [`203.0.113.7${", 10.1.0.8".repeat(500)}`], "10.1.0.8"],
    ["hundreds of headers", ["203.0.113.7", ...new Array(500).fill("10.1.0.8")], "10.1.0.8"],
    [
      "hundreds of hops left of the client",
      [`${"1.1.1.1, ".repeat(500)}203.0.113.7`],
      "203.0.113.7",
    ],
  ])("%s", (_name, values, address) => {
    expect(client(...values)).toBe(address);
  });

  test("a long header is read quickly", () => {
    const value = ",".repeat(1_000_000);
    const cost = cpuMilliseconds(() => {
      for (let round = 0; round < 1000; round++) client(value);
    });
    // Reading all hops again for each header would be a billion steps.
    expect(cost).toBeLessThan(10_000);
  });
});

describe("the stage", () => {
  const stage = requestInfoStage(trust);
  test("3 X-Forwarded-For of an untrusted peer is ignored [HDR-8]", () => {
    const call = callOf({ peer: STRANGER, headers: [["x-forwarded-for", "10.1.0.1"]] });
    stage(call);
    expect([call.peerIsTrusted, call.clientAddress]).toEqual([false, STRANGER.address]);
  });

  test("X-Forwarded-For of a trusted peer is used", () => {
    const call = callOf({ peer: GATEWAY, headers: [["x-forwarded-for", "203.0.113.7"]] });
    stage(call);
    expect([call.peerIsTrusted, call.clientAddress]).toEqual([true, "203.0.113.7"]);
  });
});
