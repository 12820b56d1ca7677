/** The sessions of an account that end with its password. */
import { randomUUID } from "node:crypto";
import type { ServiceDatabase, Transaction } from "svc-access/database";
import { describe, expect, test } from "vitest";
import { saveDocument } from "../../../src/ground/store/document-rows.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import type { ProviderTables } from "../../../src/ground/store/provider-tables.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { Sessions } from "../../../src/people/sessions/sessions.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const MANY = 130;

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin() {
    const { open } = await create();
    const replica = () => {
      const database = open();
      const provider = new ProviderDatabase(database);
      const revocations = new Revocations(provider);
      const all = database.as<IamTables>();
      const accounts = new LocalAccounts(all.kysely.$pickTables() as never, "acme");
      return {
        database,
        revocations,
        sessions: new Sessions(provider, revocations),
        all,
        accounts,
      };
    };
    const [first, second] = [replica(), replica()];
    const user = { username: "alice", displayName: "Alice", email: "alice@example.com" };
    const account = await first.accounts.create({ ...user, passwordHash: "the old one" });
    return { first, second, id: account?.id ?? expect.fail() };
  }
  type Replica = Awaited<ReturnType<typeof begin>>["first"];

  const usersIn = (tx: Transaction<ProviderTables>) =>
    (tx as unknown as Transaction<IamTables>).$pickTables<"iam_users">();
  const documents = async ({ kysely }: ServiceDatabase<ProviderTables>) =>
    (await kysely.selectFrom("iam_provider_documents").selectAll().execute())
      .map(({ model, id }) => `${model} ${id}`)
      .sort();

  /** Stores a login, and what was issued in it. */
  async function logIn(
    { sessions, accounts }: Replica,
    accountId: string,
    id: string,
    version = 0,
  ): Promise<boolean> {
    const grantId = `grant of ${id}`;
    const common = { payload: "", user_code: null, parent_id: null, expire_time: 2e12 };
    const of = { ...common, account_id: accountId, session_uid: null, uid: null };
    const session = {
      id,
      kind: "browser",
      accountId,
      clients: [{ clientId: "c", sid: `sid of ${id}`, grantId }],
      address: "",
      userAgent: "",
      expireTime: 2e12,
      endTime: undefined,
    } as const;
    return sessions.save(session, {
      mayStore: (tx) => accounts.holdPassword(usersIn(tx), accountId, version),
      async store(tx) {
        await saveDocument(tx, { ...of, model: "Session", id, grant_id: null, uid: id });
        await saveDocument(tx, { ...of, model: "Grant", id: grantId, grant_id: grantId });
        const issued = { ...of, id, grant_id: grantId, session_uid: id };
        await saveDocument(tx, { ...issued, model: "RefreshToken" });
      },
    });
  }

  const change =
    ({ accounts }: Replica, id: string) =>
    (tx: Transaction<ProviderTables>) =>
      accounts.setPassword(usersIn(tx), id, `a new one ${randomUUID()}`);

  test("all of them end, with what was issued to the account, and their tokens are revoked", async () => {
    const { first, second, id } = await begin();
    for (const session of ["one", "two"]) expect(await logIn(first, id, session)).toBe(true);
    await logIn(first, (await other(first)).id, "of bob");
    // The code of a device that was approved in no session.
    const owner = { account_id: id, grant_id: "of the device" };
    const device = { model: "DeviceCode", id: "device", ...owner } as const;
    const none = { uid: null, user_code: null, session_uid: null, parent_id: null };
    await saveDocument(first.database.kysely, {
      ...device,
      ...none,
      payload: "",
      expire_time: 2e12,
    });
    const ended = await second.sessions.endWith(id, change(second, id));
    expect(ended?.ended.map((session) => session.id).sort()).toEqual(["one", "two"]);
    expect(await first.sessions.list(id)).toEqual([]);
    expect(await documents(first.database)).toEqual([
      "Grant grant of of bob",
      "RefreshToken of bob",
      "Session of bob",
    ]);
    const token = { jti: "", sub: id, subjectType: "user", iat: 0 };
    expect(await first.revocations.isRevoked({ ...token, sid: "sid of one" })).toBe(true);
    expect(await first.revocations.isRevoked({ ...token, sid: "sid of of bob" })).toBe(false);
  });

  async function other({ accounts }: Replica) {
    const user = { username: "bob", displayName: "Bob", email: "bob@example.com" };
    return (await accounts.create({ ...user, passwordHash: "" })) ?? expect.fail();
  }

  test("the end of several is announced once", async () => {
    const { first, id } = await begin();
    for (const session of ["one", "two", "three"]) await logIn(first, id, session);
    let announced = 0;
    first.revocations.onNew(async () => {
      announced++;
    });
    const ended = await first.sessions.endWith(id, change(first, id));
    expect(await ended?.finish()).toHaveLength(3);
    expect(announced).toBe(1);
  });

  test("one continues, with what was issued in it", async () => {
    const { first, id } = await begin();
    for (const session of ["own", "other"]) await logIn(first, id, session);
    const own = (await first.sessions.list(id)).find((session) => session.id === "own");
    const ended = await first.sessions.endWith(id, change(first, id), own);
    expect(ended?.ended.map((session) => session.id)).toEqual(["other"]);
    expect((await first.sessions.list(id)).map((session) => session.id)).toEqual(["own"]);
    expect(await documents(first.database)).toEqual([
      "Grant grant of own",
      "RefreshToken own",
      "Session own",
    ]);
  });

  test("more than fit into one transaction end, too", async () => {
    const { first, id } = await begin();
    for (let count = 0; count < MANY; count++) await logIn(first, id, `session ${count}`);
    const ended = await first.sessions.endWith(id, change(first, id));
    expect(ended?.ended).toHaveLength(100);
    expect(await ended?.finish()).toHaveLength(MANY);
    expect(await first.sessions.list(id)).toEqual([]);
    expect(await documents(first.database)).toEqual([]);
  });

  test("nothing ends if nothing is changed, or the change fails", async () => {
    const { first, id } = await begin();
    await logIn(first, id, "one");
    expect(await first.sessions.endWith(id, async () => false)).toBeUndefined();
    const failure = new Error("the change failed");
    await expect(
      first.sessions.endWith(id, async (tx) => {
        await change(first, id)(tx);
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await first.sessions.list(id)).toHaveLength(1);
    expect(await documents(first.database)).toHaveLength(3);
    expect(await logIn(first, id, "two")).toBe(true);
  });

  test("a login with the former password is not stored, whichever comes first [IDP-28]", async () => {
    const { first, second, id } = await begin();
    for (let version = 0; version < 8; version++) {
      await Promise.all([
        logIn(first, id, `before ${version}`, version),
        second.sessions.endWith(id, change(second, id)),
        logIn(first, id, `also ${version}`, version),
      ]);
      // It was stored and has ended, or it was refused.
      expect(await second.sessions.list(id)).toEqual([]);
      expect(await documents(second.database)).toEqual([]);
      expect(await logIn(second, id, `late ${version}`, version)).toBe(false);
    }
    expect(await logIn(first, id, "with the new one", 8)).toBe(true);
  });
});
