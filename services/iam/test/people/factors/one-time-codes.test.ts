import { describe, expect, test } from "vitest";
import {
  base32,
  fromBase32,
  newRecoveryCodes,
  newTotpSecret,
  recoveryCodeHash,
  totpCode,
  totpStep,
  totpUri,
} from "../../../src/people/factors/one-time-codes.ts";

/** The secret of RFC 6238, appendix B. */
const SECRET = base32(Buffer.from("12345678901234567890"));
const NOW = 1_111_111_109_000;
const STEP = Math.floor(NOW / 30_000);

test.each<[seconds: number, code: string]>([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("after %d seconds the code is %s, as in RFC 6238 [FACTOR-1]", (seconds, code) => {
  expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code);
});

test.each<[string, string]>([
  ["nothing", ""],
  ["another code", "081805"],
  ["the code of two steps before", totpCode(SECRET, STEP - 2)],
  ["the code of two steps after", totpCode(SECRET, STEP + 2)],
  ["a part of the code", "08180"],
  ["a longer one", "0818040"],
  ["other digits", "٠٨١٨٠٤"],
  ["letters", "08180O"],
  ["a long text", "0".repeat(100_000)],
])("%s is not the code [FACTOR-1]", (_, code) => {
  expect(totpStep(SECRET, code, NOW)).toBeUndefined();
});

test.each([-1, 0, 1])("the code of the step %d is, also with spaces [FACTOR-1]", (apart) => {
  const code = totpCode(SECRET, STEP + apart);
  expect(totpStep(SECRET, ` ${code.slice(0, 3)} ${code.slice(3)}`, NOW)).toBe(STEP + apart);
});

test("secrets are new, and apps can read them", () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(secret);
  expect(base32(fromBase32(secret))).toBe(secret);
  const uri = new URL(totpUri("Acme: & Co", "a&b=c@example.com", secret));
  expect(decodeURIComponent(uri.pathname)).toContain("Acme: & Co:a&b=c@example.com");
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret, issuer: "Acme: & Co" });
});

describe("recovery codes", () => {
  const [code = ""] = newRecoveryCodes();

  test.each(["", "x", code.slice(1), `${code}A`, code.replace(/.$/, "1"), "A".repeat(100_000)])(
    "%j is none",
    (typed) => expect(recoveryCodeHash("a", typed)).toBeUndefined(),
  );

  test("are ten, each for one account, in any spelling [FACTOR-2]", () => {
    expect(new Set(newRecoveryCodes()).size).toBe(10);
    const hash = recoveryCodeHash("a", code);
    expect(recoveryCodeHash("a", ` ${code.toLowerCase().replaceAll("-", " ")}`)).toBe(hash);
    expect(recoveryCodeHash("b", code)).not.toBe(hash);
  });
});
