/** Codes of second factors that are guessed, by the limits of an account and of an address. */
import type { Kysely } from "svc-access/database";
import { expect, test } from "vitest";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LoginThrottle } from "../../../src/people/accounts/throttle/login-throttle.ts";
import { Quota } from "../../../src/people/accounts/throttle/quota.ts";
import { Factors, type FactorsOptions } from "../../../src/people/factors/factors.ts";
import { newTotpSecret, totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { sqlite } from "../../support/databases.ts";

const START = 1_800_000_000_000;
const SPAN = 900_000;

test("attempts that others have used up are not failures of the own address [FACTOR-5]", async () => {
  const clock = { now: START };
  const now = () => clock.now;
  const kysely = (await sqlite()).open().kysely as unknown as Kysely<UserTables>;
  const secret = newTotpSecret();
  const store = {
    apps: async () => [{ id: "app", secret }],
    use: async () => true,
    areAppsRefused: async () => false,
    countFailure: async () => true,
    forgetFailures: async () => {},
    useCode: async () => true,
  };
  const factors = new Factors({
    store: store as unknown as FactorsOptions["store"],
    passkeys: {} as FactorsOptions["passkeys"],
    throttle: new LoginThrottle(kysely, now),
    quota: new Quota(kysely, { purpose: "codes", most: 5, spanMs: SPAN }, now),
    isRequired: async () => false,
    issuer: "IAM",
    now,
  });
  const code = () => totpCode(secret, Math.floor(clock.now / 30_000));
  const otherCode = () => (code() === "000000" ? "111111" : "000000");
  for (let count = 0; count < 5; count++) {
    const attempt = factors.verifyCode("alice", otherCode(), `192.0.2.${count}`);
    expect(await attempt).toEqual({ outcome: "wrong" });
  }
  // With the right code, again and again, until the end of the span.
  for (clock.now = START; clock.now < START + SPAN; clock.now += 30_000) {
    const retryAfterMs = START + SPAN - clock.now;
    const attempt = factors.verifyCode("alice", code(), "203.0.113.7");
    expect(await attempt).toEqual({ outcome: "slowed", retryAfterMs });
  }
  // A recovery code is looked at whatever others have used up.
  clock.now = START;
  expect(await factors.verifyCode("alice", "AAAA-AAAA-AAAA-AAAA", "203.0.113.9")).toEqual({
    outcome: "ok",
    method: "recovery_code",
  });
  clock.now = START + SPAN;
  expect(await factors.verifyCode("alice", code(), "203.0.113.7")).toEqual({
    outcome: "ok",
    method: "totp",
  });
});
