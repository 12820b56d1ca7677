import { BlockList } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOOPBACK, PeerTrust } from "../../../src/runtime/peer/peer-trust.ts";

const read = (...entries: string[]) => PeerTrust.read(entries);
const peer = (address: string, ...certificateNames: string[]) => ({ address, certificateNames });

describe("entries that are malformed", () => {
  const NO_ADDRESS = "is not an IP address or CIDR block";
  test.each([
    ["", NO_ADDRESS],
    [" ", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["10.0.0.256", NO_ADDRESS],
    ["10.0.0", NO_ADDRESS],
    ["010.0.0.1", NO_ADDRESS],
    ["10.0.0.0/33", "must have a prefix length from 0 to 32"],
    ["10.0.0.0/-1", "must have a prefix length from 0 to 32"],
    ["10.0.0.0/", "must have a prefix length from 0 to 32"],
    ["10.0.0.0/08", "must have a prefix length from 0 to 32"],
    ["10.0.0.0/8/8", "must have a prefix length from 0 to 32"],
    ["10.0.0.0/255.0.0.0", "must have a prefix length from 0 to 32"],
    ["10.0.0.1/8", "has bits beyond its prefix of 8; write the first address of the block"],
    ["fd00::1/8", "has bits beyond its prefix of 8; write the first address of the block"],
    ["fd00::/129", "must have a prefix length from 0 to 128"],
    ["::ffff:10.0.0.0/8", "must have a prefix length from 0 to 32"],
    ["fe80::1%eth0", NO_ADDRESS],
    ["[::1]", NO_ADDRESS],
    ["10.0.0.1:80", NO_ADDRESS],
    [
      "10.0.0.0-10.0.0.255",
      "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)",
    ],
    ["*", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["*.", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["*.*.x", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["a.*.x", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["a..b", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    [
      "edge,evil",
      "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)",
    ],
    ["*.-x", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["*.1", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    ["x.1", "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)"],
    [
      `${"x.".repeat(126)}xx`,
      "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)",
    ],
    [
      `spiffe://${"x".repeat(2040)}`,
      "is not an IP address, CIDR block or certificate name (exact, or *.x for one label)",
    ],
    ["spiffe://*", NO_ADDRESS],
    ["localhost", "would be the name of a certificate; write 127.0.0.0/8 and ::1 for this machine"],
  ])("%j", (entry, why) => {
    const { trust, problems } = read("10.9.9.9", entry);
    const expected =
      entry === "spiffe://*"
        ? expect.stringContaining("is not an IP address")
        : `"${entry}" ${why}`;
    expect(problems).toEqual([{ index: 1, message: expected }]);
    expect(trust.trusts(peer("10.0.0.1", entry, "x.x"))).toBe(false);
    expect(trust.trusts(peer("10.9.9.9"))).toBe(true);
  });

  test("are all reported", () => {
    expect(read("x y", "10.0.0.0/8", "1.2.3", "::/x").problems.map(({ index }) => index)).toEqual([
      0, 2, 3,
    ]);
  });
});

describe("peers", () => {
  const { trust, problems } = read(
    "10.1.0.0/16",
    "192.0.2.7",
    "fd00:1::/32",
    "2001:db8::7",
    "::ffff:198.51.100.0/120",
    "gateway.internal",
    "*.Edge.internal",
    "spiffe://cluster/ns/edge/sa/Envoy",
    "3com.example1",
    "*.x",
    `${"x.".repeat(126)}y`,
    `spiffe://${"x".repeat(2039)}`,
  );
  test("all entries are read", () => expect(problems).toEqual([]));

  test.each([
    ["10.1.0.0"],
    ["10.1.255.255"],
    ["::ffff:10.1.2.3"],
    ["::FFFF:0a01:0203"],
    ["192.0.2.7"],
    ["fd00:1::"],
    ["fd00:1:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2001:0DB8:0::0007"],
    ["198.51.100.9"],
    ["fd00:1::5%eth0"],
  ])("the address %s is trusted", (address) => {
    expect(trust.trusts(peer(address))).toBe(true);
  });

  test.each([
    ["10.0.255.255"],
    ["10.2.0.0"],
    ["192.0.2.8"],
    ["fd00:2::"],
    ["2001:db8::8"],
    ["198.51.101.0"],
    [""],
    ["unknown"],
    ["::10.1.2.3"],
    ["10.1.2.3, 10.1.2.4"],
    ["64:ff9b::10.1.2.3"],
  ])("the address %j is not", (address) => {
    expect(trust.trusts(peer(address))).toBe(false);
    expect(trust.trustsAddress(address)).toBe(false);
  });

  test.each([
    ["gateway.internal"],
    ["GATEWAY.internal"],
    ["a.edge.internal"],
    ["spiffe://cluster/ns/edge/sa/Envoy"],
    ["3com.example1"],
    ["a.x"],
    [`${"x.".repeat(126)}y`],
    [`spiffe://${"x".repeat(2039)}`],
  ])("the certificate %s is trusted", (name) =>
    expect(trust.trusts(peer("203.0.113.1", "other", name))).toBe(true),
  );

  test.each([
    ["edge.internal"],
    ["a.b.edge.internal"],
    ["*.edge.internal"],
    ["evilgateway.internal"],
    ["gateway.internal.evil"],
    ["gateway.internal."],
    [".edge.internal"],
    ["gateway.internal\0"],
    ["spiffe://cluster/ns/edge/sa/envoy"],
    ["10.1.0.1"],
    ["x"],
    [".x"],
    ["-.x"],
    ["a.b.x"],
    [""],
  ])("the certificate %j is not", (name) => {
    expect(trust.trusts(peer("203.0.113.1", name))).toBe(false);
  });

  test("are computed once", () => {
    let asked = 0;
    const own = {
      get address() {
        asked++;
        return "10.1.0.1";
      },
      certificateNames: [],
    };
    expect([trust.trusts(own), trust.trusts(own), asked]).toEqual([true, true, 1]);
  });

  test("an empty list trusts no peer; the loopback list trusts loopback", () => {
    expect(read().trust.trusts(peer("127.0.0.1"))).toBe(false);
    const { trust: loopback } = PeerTrust.read(LOOPBACK);
    expect(
      ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"].every((one) =>
        loopback.trustsAddress(one),
      ),
    ).toBe(true);
    expect(["126.0.0.1", "128.0.0.0", "::2", "::"].some((one) => loopback.trustsAddress(one))).toBe(
      false,
    );
  });
});

describe("a list that contains every address", () => {
  test.each([
    [["0.0.0.0/0"]],
    [["::/0"]],
    [["10.0.0.0/8", "0.0.0.0/0"]],
    [["0.0.0.0/1", "128.0.0.0/1"]],
    [["128.0.0.0/1", "0.0.0.0/2", "64.0.0.0/2"]],
    [["::/1", "8000::/1"]],
    [["::ffff:0.0.0.0/96"]],
    [["0.0.0.0/1", "0.0.0.0/8", "64.0.0.0/2", "128.0.0.0/1"]],
  ])("%j", (entries) => expect(read(...entries).trust.holdsEverybody).toBe(true));

  test.each([
    [[]],
    [["0.0.0.0/1"]],
    [["0.0.0.0/1", "128.0.0.0/2"]],
    [["0.0.0.0/1", "128.0.0.1", "129.0.0.0/8"]],
    [["::/1"]],
    [["0.0.0.0/1", "8000::/1"]],
    [["0.0.0.0/1", "::8000:0/97"]],
    [["*.x"]],
  ])("%j does not", (entries) => expect(read(...entries).trust.holdsEverybody).toBe(false));
});

describe("blocks contain the same addresses as Node's block list", () => {
  const v4 = (value: number) =>
    [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
  const v4Block = fc
    .tuple(fc.nat(2 ** 32 - 1), fc.nat(31))
    .map(
      ([value, rest]) =>
        [v4(rest === 0 ? value : (value & (-1 << rest)) >>> 0), 32 - rest] as const,
    );
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
  const v6 = (groups: readonly number[]) =>
    groups.map((one) => one.toString(16).padStart(groups[0] === 0xfe80 ? 4 : 1, "0")).join(":");
  const v6Groups = fc.tuple(
    fc.constantFrom(0xfe80, 0x2001, 0xfd00),
    group,
    group,
    group,
    group,
    group,
    group,
    group,
  );
  const v6Block = fc
    .tuple(v6Groups, fc.integer({ min: 1, max: 8 }))
    .map(
      ([groups, kept]) => [v6(groups.map((one, at) => (at < kept ? one : 0))), kept * 16] as const,
    );

  const agrees = (
    family: "ipv4" | "ipv6",
    blocks: readonly (readonly [string, number])[],
    addresses: readonly string[],
  ) => {
    const oracle = new BlockList();
    for (const [ip, prefix] of blocks) oracle.addSubnet(ip, prefix, family);
    const { trust, problems } = read(...blocks.map(([ip, prefix]) => `${ip}/${prefix}`));
    expect(problems).toEqual([]);
    for (const one of [...addresses, ...blocks.map(([ip]) => ip)]) {
      expect(trust.trustsAddress(one), one).toBe(oracle.check(one, family));
    }
  };

  test("IPv4", () => {
    const near = fc.nat(2 ** 32 - 1).map(v4);
    fc.assert(
      fc.property(fc.array(v4Block, { maxLength: 4 }), fc.array(near), (blocks, addresses) =>
        agrees("ipv4", blocks, addresses),
      ),
      { numRuns: 1000 },
    );
  });

  test("IPv6", () => {
    fc.assert(
      fc.property(
        fc.array(v6Block, { maxLength: 4 }),
        fc.array(v6Groups.map(v6)),
        (blocks, addresses) => agrees("ipv6", blocks, addresses),
      ),
      { numRuns: 1000 },
    );
  });

  test("but a block of IPv6 contains IPv4 addresses only if it is a block of mapped addresses", () => {
    expect(read("::/0").trust.trustsAddress("10.0.0.1")).toBe(false);
    expect(read("::/8").trust.trustsAddress("::ffff:10.0.0.1")).toBe(false);
    expect(read("::ffff:10.0.0.0/104").trust.trustsAddress("10.0.0.1")).toBe(true);
  });
});
