/** Changes of the factors of one account at once, on replicas of both kinds of databases. */
import { randomBytes, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import type { FactorOwner } from "../../../src/people/factors/factor-owner.ts";
import { type FactorDatabase, FactorStore } from "../../../src/people/factors/factor-store.ts";
import { Factors } from "../../../src/people/factors/factors.ts";
import { newTotpSecret, totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { Passkeys } from "../../../src/people/factors/passkeys.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const KEYS = `${randomBytes(32).toString("base64")}\n`;
const ROUNDS = 10;
const NOW = 1_800_000_000_000;
const STEP = NOW / 30_000;
const ALICE = "alice";
const { signal } = new AbortController();
/** Somebody who has entered the password. */
const ownerOf = (accountId: string) => ({ accountId, passwordVersion: 0 });
/** A code that an app does not show at that time. */
function otherCode(secret: string): string {
  const shown = [-1, 0, 1].map((apart) => totpCode(secret, STEP + apart));
  const codes = ["000000", "111111", "222222", "333333"];
  return codes.find((code) => !shown.includes(code)) ?? "";
}
const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

describe.each(databases)("on %s", (_, newDatabase) => {
  let kysely: FactorDatabase;
  let required: boolean;
  let replicas: readonly [Factors, Factors];
  beforeEach(async () => {
    const database = await newDatabase();
    required = true;
    kysely = database.open().kysely as unknown as FactorDatabase;
    const box = new SecretBox(EncryptionKeys.parse(KEYS));
    const replica = () => {
      const store = new FactorStore(database.open().kysely as unknown as FactorDatabase, box);
      return new Factors({
        store,
        passkeys: new Passkeys(store, { origin: "http://localhost", name: "IAM" }),
        throttle: { begin: async () => ({ allowed: true, pauseMs: 0 }), succeeded: async () => {} },
        quota: { use: async () => undefined, wait: async () => undefined },
        isRequired: async () => required,
        issuer: "IAM",
        now: () => NOW,
      });
    };
    replicas = [replica(), replica()];
    await addUser(ALICE);
  });

  async function addUser(id: string): Promise<void> {
    const row = { id, username: id, username_key: id, display_name: "", email: "", avatar_url: "" };
    const times = { create_time: NOW, update_time: NOW, deleted_time: null };
    await kysely
      .insertInto("iam_users")
      .values({ ...row, ...times, password_hash: null, disabled: 0, etag: randomUUID() })
      .execute();
  }
  const listed = () => replicas[0].store.list(ALICE);
  const codesNow = () => replicas[0].store.codes(ALICE);
  const countCodes = async () => (await codesNow()).count;
  const failures = async () =>
    Number(
      (await kysely.selectFrom("iam_users").select("factor_failures").executeTakeFirstOrThrow())
        .factor_failures,
    );
  /** Adds an app, which somebody has just scanned. */
  function add(at: Factors, account = ALICE, onlyAsFirst = false) {
    const secret = newTotpSecret();
    const code = totpCode(secret, STEP);
    const owner = ownerOf(account);
    return onlyAsFirst ? at.addFirstApp(owner, secret, code) : at.addApp(owner, secret, code);
  }
  const codesOf = (added: Awaited<ReturnType<typeof add>>) =>
    typeof added === "object" ? added.codes : [];
  async function removeAtOnce() {
    const known = await listed();
    expect(known).toHaveLength(2);
    return Promise.all(
      replicas.map((one, at) => one.remove(known[at]?.id ?? "", ownerOf(ALICE), signal)),
    );
  }

  test("of two removals, who must have a factor keeps one [FACTOR-4]", async () => {
    await add(replicas[0]);
    for (let round = 0; round < ROUNDS; round++) {
      await add(replicas[0]);
      expect((await removeAtOnce()).sort()).toEqual(["required", "totp"]);
      expect([(await listed()).length, await countCodes()]).toEqual([1, 10]);
    }
  });

  test("two removals of all factors take the recovery codes [FACTOR-2]", async () => {
    required = false;
    for (let round = 0; round < ROUNDS; round++) {
      await add(replicas[0]);
      await add(replicas[1]);
      expect(await removeAtOnce()).toEqual(["totp", "totp"]);
      expect([(await listed()).length, await countCodes()]).toEqual([0, 0]);
    }
  });

  test("codes that are left over do not open an account with a new factor [FACTOR-2]", async () => {
    const old = codesOf(await add(replicas[0]));
    await kysely.deleteFrom("iam_second_factors").execute();
    const fresh = codesOf(await add(replicas[1]));
    expect(fresh).toHaveLength(10);
    const verify = (code = "") => replicas[0].verifyCode(ALICE, code, "203.0.113.7");
    expect(await verify(old[0])).toEqual({ outcome: "wrong" });
    expect(await verify(fresh[0])).toMatchObject({ outcome: "ok" });
  });

  test("of two first factors by the password alone, one is added [FACTOR-6]", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const added = await Promise.all(replicas.map((one) => add(one, ALICE, true)));
      expect(added.filter((one) => one === "not_first")).toHaveLength(1);
      expect(added.map((one) => codesOf(one).length).sort()).toEqual([0, 10]);
      expect((await listed()).length).toBe(1);
      await replicas[0].store.removeAll(ALICE);
    }
  });

  test("of two additions, one shows the recovery codes, which are those that work", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const added = await Promise.all(replicas.map((one) => add(one)));
      const codes = added.flatMap(codesOf);
      expect([codes.length, await countCodes()]).toEqual([10, 10]);
      const used = await replicas[1].verifyCode(ALICE, codes[9] ?? "", "203.0.113.7");
      expect(used.outcome).toBe("ok");
      await replicas[0].store.removeAll(ALICE);
    }
  });

  test("of two additions of one app, one adds it, also later: a code counts once [FACTOR-1]", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const secret = newTotpSecret();
      const code = totpCode(secret, STEP - 1);
      const addOne = (at: Factors) => at.addApp(ownerOf(ALICE), secret, code);
      const [first, second] = await Promise.all(replicas.map(addOne));
      expect([first, second].filter((one) => one === "known")).toHaveLength(1);
      expect(await addOne(replicas[0])).toBe("known");
      expect((await listed()).length).toBe(1);
      const verify = (one: Factors) => one.verifyCode(ALICE, totpCode(secret, STEP), "203.0.113.7");
      expect((await verify(replicas[0])).outcome).toBe("ok");
      expect((await verify(replicas[1])).outcome).toBe("wrong");
      await replicas[1].store.removeAll(ALICE);
    }
  });

  test("two accounts have one secret, and one account several", async () => {
    await addUser("bob");
    const secret = newTotpSecret();
    const code = totpCode(secret, STEP);
    for (const id of [ALICE, "bob"]) {
      expect(codesOf(await replicas[0].addApp(ownerOf(id), secret, code))).toHaveLength(10);
    }
    expect(await add(replicas[1])).toEqual({ codes: [] });
    expect((await listed()).length).toBe(2);
  });

  test("the limit holds for additions at once", async () => {
    const added = await Promise.all(
      Array.from({ length: 16 }, (_, at) => add(at % 2 ? replicas[0] : replicas[1])),
    );
    expect(added.filter((one) => one !== undefined)).toHaveLength(10);
    expect(await listed()).toHaveLength(10);
  });

  /** A session of somebody. */
  async function addSession(id: string, accountId = ALICE): Promise<void> {
    const times = { create_time: NOW, seen_time: NOW, expire_time: NOW, end_time: NOW };
    const row = { id, account_id: accountId, clients: "[]", address: "", user_agent: "" };
    await kysely
      .insertInto("iam_sessions")
      .values({ ...row, ...times, kind: "browser", ended_time: null })
      .execute();
  }
  const set = (values: object) =>
    kysely.updateTable("iam_users").set(values).where("id", "=", ALICE).execute();
  const endSession = () => kysely.updateTable("iam_sessions").set({ ended_time: NOW }).execute();

  describe.each<[string, FactorOwner, () => Promise<unknown>]>([
    ["a session that has ended", { accountId: ALICE, sessionId: "s" }, endSession],
    ["a session of somebody else", { accountId: ALICE, sessionId: "of-bob" }, async () => {}],
    ["a session of nobody", { accountId: ALICE, sessionId: "none" }, async () => {}],
    ["a former password", ownerOf(ALICE), () => set({ password_version: 1 })],
    ["the password of a disabled account", ownerOf(ALICE), () => set({ disabled: 1 })],
    [
      "a session of a disabled account",
      { accountId: ALICE, sessionId: "s" },
      () => set({ disabled: 1 }),
    ],
  ])("with %s", (_name, owner, end) => {
    test("no factor or code is added or removed [FACTOR-6]", async () => {
      const [at] = replicas;
      await addSession("s");
      await addSession("of-bob", "bob");
      await add(at);
      const [factor] = await listed();
      const before = await kysely.selectFrom("iam_recovery_codes").selectAll().execute();
      await end();
      const secret = newTotpSecret();
      const code = totpCode(secret, STEP);
      expect(await at.addApp(owner, secret, code)).toBe("lost_owner");
      expect(await at.addFirstApp(owner, secret, code)).toBe("lost_owner");
      const addition = { owner, firstCodes: [] };
      const passkey = { credentialId: "c", publicKey: "k", counter: 0 };
      expect(await at.store.addPasskey(passkey, addition)).toBe("lost_owner");
      expect(await at.newCodes(owner, (await codesNow()).version)).toBe("lost_owner");
      required = false;
      expect(await at.remove(factor?.id ?? "", owner, signal)).toBe("lost_owner");
      expect(await listed()).toEqual([factor]);
      expect(await kysely.selectFrom("iam_recovery_codes").selectAll().execute()).toEqual(before);
    });
  });

  test("a session that goes on adds and removes factors", async () => {
    const owner = { accountId: ALICE, sessionId: "s" };
    await addSession("s");
    const secret = newTotpSecret();
    expect(codesOf(await replicas[0].addApp(owner, secret, totpCode(secret, STEP)))).toHaveLength(
      10,
    );
    const { version } = await codesNow();
    expect(await replicas[1].newCodes(owner, version)).toHaveLength(10);
    const [factor] = await listed();
    required = false;
    expect(await replicas[1].remove(factor?.id ?? "", owner, signal)).toBe("totp");
  });

  test("of two replicas with one code at once, one accepts it, and none that of a former step", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const secret = newTotpSecret();
      const addition = { owner: ownerOf(ALICE), firstCodes: [] };
      await replicas[0].store.addApp(secret, STEP - 1, addition);
      const verify = (code: string) => (one: Factors) =>
        one.verifyCode(ALICE, code, "203.0.113.7").then(({ outcome }) => outcome);
      const used = await Promise.all(replicas.map(verify(totpCode(secret, STEP))));
      expect(used.sort()).toEqual(["ok", "wrong"]);
      const former = await Promise.all(replicas.map(verify(totpCode(secret, STEP - 1))));
      expect(former).toEqual(["wrong", "wrong"]);
      await replicas[0].store.removeAll(ALICE);
    }
  });

  describe("100 codes were wrong, one after the other:", () => {
    let secret: string;
    let recovery: readonly string[];
    beforeEach(async () => {
      secret = newTotpSecret();
      const added = await replicas[0].addApp(ownerOf(ALICE), secret, totpCode(secret, STEP - 1));
      recovery = codesOf(added);
      // As many as are left are looked at, at both replicas at once.
      await set({ factor_failures: 90 });
      const attempts = Array.from({ length: 16 }, (_, at) =>
        (at % 2 ? replicas[0] : replicas[1]).verifyCode(ALICE, wrong(), "203.0.113.7"),
      );
      const outcomes = (await Promise.all(attempts)).map(({ outcome }) => outcome);
      expect(outcomes.filter((one) => one === "wrong")).toHaveLength(10);
      expect(outcomes.filter((one) => one === "refused")).toHaveLength(6);
    });
    const verify = async (code: string) =>
      (await replicas[0].verifyCode(ALICE, code, "203.0.113.7")).outcome;
    const right = () => totpCode(secret, STEP);
    const wrong = () => otherCode(secret);

    test("no code of an app counts, not even a right one [FACTOR-5]", async () => {
      for (const code of [right(), wrong(), right()]) expect(await verify(code)).toBe("refused");
    });

    test("what is not a recovery code is wrong, and does not change that [FACTOR-5]", async () => {
      const texts = [
        "AAAA-AAAA-AAAA-AAAA",
        "AAAA-AAAA-AAAA-AAA",
        "0000-1111-8888-9999",
        "",
        "12345",
      ];
      for (const code of texts) expect(await verify(code)).toBe("wrong");
      expect(await verify(right())).toBe("refused");
    });

    test("a recovery code or a new password makes codes count again [FACTOR-5]", async () => {
      expect(await verify(recovery[0] ?? "")).toBe("ok");
      expect(await failures()).toBe(0);
      await set({ factor_failures: 100 });
      const accounts = new LocalAccounts(kysely as never, "acme");
      expect(await accounts.setPassword(kysely as never, ALICE, "a new one")).toBe(true);
      expect(await verify(right())).toBe("ok");
    });

    test("so do other factors, once these are removed [FACTOR-5, FACTOR-7]", async () => {
      expect(await replicas[1].store.removeAll(ALICE)).toBe(1);
      const other = newTotpSecret();
      await replicas[0].addApp(ownerOf(ALICE), other, totpCode(other, STEP - 1));
      expect(await verify(totpCode(other, STEP))).toBe("ok");
      // So does who removes the last one by hand, in place of whoever manages the account.
      await set({ factor_failures: 100 });
      const [app] = await replicas[1].store.list(ALICE);
      expect(await replicas[1].store.remove(app?.id ?? "", ownerOf(ALICE), false)).toBe("totp");
      expect(await failures()).toBe(0);
      // A login under way may count until then.
      await set({ factor_failures: 100 });
      const last = newTotpSecret();
      await replicas[0].addApp(ownerOf(ALICE), last, totpCode(last, STEP - 1));
      expect(await verify(totpCode(last, STEP))).toBe("ok");
    });
  });

  test("wrong codes before a right one do not count [FACTOR-5]", async () => {
    const secret = newTotpSecret();
    await replicas[0].addApp(ownerOf(ALICE), secret, totpCode(secret, STEP - 1));
    await set({ factor_failures: 99 });
    const right = await replicas[1].verifyCode(ALICE, totpCode(secret, STEP), "");
    expect(right.outcome).toBe("ok");
    for (const code of [otherCode(secret), "", "x", "1234567", "AAAA-AAAA-AAAA-AAAA"]) {
      expect((await replicas[0].verifyCode(ALICE, code, "")).outcome).toBe("wrong");
    }
    // What is not a code of an app is not a wrong one.
    expect(await failures()).toBe(1);
  });

  test("recovery codes are replaced once by a form that two replicas get, also one after the other [FACTOR-2]", async () => {
    await add(replicas[0]);
    const { version } = await codesNow();
    const made = await Promise.all(replicas.map((at) => at.newCodes(ownerOf(ALICE), version)));
    const codes = made.filter((one) => one !== "changed");
    expect([made.length, codes.length]).toEqual([2, 1]);
    const after = await codesNow();
    expect(after.count).toBe(10);
    expect(await replicas[1].newCodes(ownerOf(ALICE), version)).toBe("changed");
    expect(await codesNow()).toEqual(after);
    expect(await replicas[0].newCodes(ownerOf(ALICE), after.version)).toHaveLength(10);
  });

  test("all factors and codes go, or none", async () => {
    await add(replicas[0]);
    const { schema } = kysely;
    // The second of the statements fails.
    await schema.alterTable("iam_recovery_codes").renameTo("elsewhere").execute();
    await expect(replicas[0].store.removeAll(ALICE)).rejects.toThrow(/iam_recovery_codes/);
    await schema.alterTable("elsewhere").renameTo("iam_recovery_codes").execute();
    expect([(await listed()).length, await countCodes()]).toEqual([1, 10]);
    expect(await replicas[0].store.removeAll(ALICE)).toBe(1);
    expect([(await listed()).length, await countCodes()]).toEqual([0, 0]);
  });

  test.each<[string, (at: Factors) => Promise<unknown>, unknown]>([
    ["a factor of nobody", (at) => at.remove(randomUUID(), ownerOf(ALICE), signal), undefined],
    [
      "a factor with an id that cannot be stored",
      (at) => at.remove("\0", ownerOf(ALICE), signal),
      undefined,
    ],
    ["a factor of an unknown account", (at) => add(at, "nobody"), "lost_owner"],
    [
      "recovery codes without a factor",
      async (at) => at.newCodes(ownerOf(ALICE), (await codesNow()).version),
      undefined,
    ],
    ["a wrong code", (at) => at.addApp(ownerOf(ALICE), newTotpSecret(), "000000x"), undefined],
    ["all factors of an unknown account", (at) => at.store.removeAll("nobody"), 0],
  ])("%s changes nothing", async (_case, change, expected) => {
    expect(await change(replicas[0])).toEqual(expected);
    expect([(await listed()).length, await countCodes()]).toEqual([0, 0]);
  });

  test("nobody removes another account's factor, or adds one to a deleted account", async () => {
    await addUser("bob");
    await add(replicas[0]);
    const [factor] = await listed();
    expect(await replicas[0].remove(factor?.id ?? "", ownerOf("bob"), signal)).toBe(undefined);
    expect(await listed()).toHaveLength(1);
    await kysely
      .updateTable("iam_users")
      .set({ deleted_time: NOW })
      .where("id", "=", "bob")
      .execute();
    expect(await add(replicas[0], "bob")).toBe("lost_owner");
  });
});
