import { isIPv6 } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isIpv6 } from "../../src/config/config-values.ts";
import { runs } from "../support/effort.ts";

test.each([
  "",
  ":",
  "::",
  "::1",
  "1::2::3",
  "1:2:3:4:5:6:7::",
  "1:2:3:4:5:6:7:8::",
  "::ffff:1.2.3.4",
  "::ffff:1.2.3",
  "::01.2.3.4",
  "::256.1.1.1",
  "12345::",
  "fe80::1%eth0",
  "fe80::1%",
  "fe80::1%eth 0",
  "[::1]",
  "::1]/x[",
  "::1@a",
  "1.2.3.4",
])("%j is an address exactly if node:net says so", (text) => {
  expect(isIpv6(text)).toBe(isIPv6(text));
});

test("so is all text that looks like an address", () => {
  const piece = fc.constantFrom(
    "0",
    "1",
    "f",
    "ffff",
    "12345",
    ":",
    "::",
    ".",
    "1.2.3.4",
    "%a",
    "g",
  );
  const text = fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join(""));
  const address = fc.oneof(fc.ipV6(), text);
  fc.assert(
    fc.property(address, (candidate) => isIpv6(candidate) === isIPv6(candidate)),
    { numRuns: runs(20_000) },
  );
});
