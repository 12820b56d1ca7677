/** Changes of the factors of one account at once, on replicas of both kinds of databases. */
import { randomBytes, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
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
  const countCodes = () => replicas[0].store.countCodes(ALICE);
  /** Adds an app, which somebody has just scanned. */
  function add(at: Factors, account = ALICE, onlyAsFirst = false) {
    const secret = newTotpSecret();
    const code = totpCode(secret, STEP);
    return onlyAsFirst ? at.addFirstApp(account, secret, code) : at.addApp(account, secret, code);
  }
  const codesOf = (added: Awaited<ReturnType<typeof add>>) =>
    typeof added === "object" ? added.codes : [];
  async function removeAtOnce() {
    const known = await listed();
    expect(known).toHaveLength(2);
    return Promise.all(replicas.map((one, at) => one.remove(known[at]?.id ?? "", ALICE, signal)));
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

  test("the limit holds for additions at once", async () => {
    const added = await Promise.all(
      Array.from({ length: 16 }, (_, at) => add(at % 2 ? replicas[0] : replicas[1])),
    );
    expect(added.filter((one) => one !== undefined)).toHaveLength(10);
    expect(await listed()).toHaveLength(10);
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
    ["a factor of nobody", (at) => at.remove(randomUUID(), ALICE, signal), undefined],
    [
      "a factor with an id that cannot be stored",
      (at) => at.remove("\0", ALICE, signal),
      undefined,
    ],
    ["a factor of an unknown account", (at) => add(at, "nobody"), undefined],
    ["recovery codes without a factor", (at) => at.newCodes(ALICE), undefined],
    ["a wrong code", (at) => at.addApp(ALICE, newTotpSecret(), "000000x"), undefined],
    ["all factors of an unknown account", (at) => at.store.removeAll("nobody"), 0],
  ])("%s changes nothing", async (_case, change, expected) => {
    expect(await change(replicas[0])).toEqual(expected);
    expect([(await listed()).length, await countCodes()]).toEqual([0, 0]);
  });

  test("nobody removes another account's factor, or adds one to a deleted account", async () => {
    await addUser("bob");
    await add(replicas[0]);
    const [factor] = await listed();
    expect(await replicas[0].remove(factor?.id ?? "", "bob", signal)).toBe(undefined);
    expect(await listed()).toHaveLength(1);
    await kysely
      .updateTable("iam_users")
      .set({ deleted_time: NOW })
      .where("id", "=", "bob")
      .execute();
    expect(await add(replicas[0], "bob")).toBe(undefined);
  });
});
