/** Administrators who change users at the same moment, at two replicas. */
import type { ServiceDatabase } from "svc-access/database";
import { ServiceError } from "svc-access/runtime";
import { testContext } from "svc-access/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { UserChanges, type UserChangesOptions } from "../../../src/api/users/user-changes.ts";
import { userRemoval } from "../../../src/api/users/user-removal.ts";
import { openIamRemovals } from "../../../src/ground/removals/removals.ts";
import type { OwnerClaimTables } from "../../../src/ground/store/owner-claim-tables.ts";
import type { PasswordTables } from "../../../src/ground/store/password-tables.ts";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import type { ProviderTables } from "../../../src/ground/store/provider-tables.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { AccountChanges } from "../../../src/people/accounts/account-changes.ts";
import type { LocalAccount } from "../../../src/people/accounts/account-row.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { ResetLinks } from "../../../src/people/accounts/reset-links.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { Sessions } from "../../../src/people/sessions/sessions.ts";
import { OwnerClaims } from "../../../src/rights/owner-claims.ts";
import { removalsIn } from "../../ground/removals/pending-removals.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

afterEach(() => void vi.restoreAllMocks());

const ROUNDS = 6;
const organizationId = "acme";
const by = ({ id }: Pick<LocalAccount, "id">) => testContext({ user: id, organizationId });

type Owners = UserChangesOptions["owners"];

/** A replica over a connection of its own. */
async function replica(provider: ServiceDatabase<ProviderTables>, owners?: Owners) {
  const database = provider.as<IamTables>();
  const documents = new ProviderDatabase(provider);
  const revocations = new Revocations(documents);
  const sessions = new Sessions(documents, revocations);
  const accounts = new LocalAccounts(database.kysely as never, organizationId);
  const removals = await openIamRemovals({ database, engine: {} as never });
  removals.register(userRemoval);
  const changes = new UserChanges({
    database,
    accounts,
    changes: new AccountChanges(organizationId),
    sessions: {
      endWith: (id, change, _, except) => sessions.endWith(id, change, except),
    },
    links: new ResetLinks(database.as<PasswordTables>()),
    removals,
    rights: { assertCovers: async () => undefined, assertManages: async () => undefined },
    owners: owners ?? { guard: (_change, _signal, work) => work([], (run) => run()) },
    organization: organizationId,
  });
  return { accounts, changes, database, revocations };
}

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin(owners?: Owners) {
    const { open } = await create();
    const [first, second] = [await replica(open(), owners), await replica(open(), owners)];
    const add = async (username: string) => {
      const user = { username, displayName: username, email: "a@b.example", passwordHash: "none" };
      return (await first.accounts.create(user)) ?? expect.fail(`${username} is taken`);
    };
    return { first, second, add };
  }
  const outcomeOf = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    );

  test.each(["disable", "delete"] as const)(
    "of two administrators who %s each other at once, one succeeds",
    async (verb) => {
      const { first, second, add } = await begin();
      for (let round = 0; round < ROUNDS; round++) {
        const [ann, ben] = [await add(`ann${round}`), await add(`ben${round}`)];
        const outcomes = await Promise.all([
          outcomeOf(first.changes[verb](ben, by(ann))),
          outcomeOf(second.changes[verb](ann, by(ben))),
        ]);
        expect(outcomes.toSorted()).toEqual(["FORBIDDEN", "done"]);
        const left = [await first.accounts.find(ann.id), await first.accounts.find(ben.id)];
        expect(left.filter((one) => one !== undefined && !one.disabled)).toHaveLength(1);
      }
    },
  );

  test.each(["disable", "delete"] as const)(
    "%s makes others wait for its transaction only, and goes on where the claims cannot be released",
    async (verb) => {
      const order: string[] = [];
      const { first, add } = await begin({
        guard: (_change, signal, work) =>
          claims.during(
            ["user:ben"],
            signal,
            () => work([], (run) => run()),
            () => true,
          ),
      });
      const database = first.database.as<OwnerClaimTables>();
      const claims = new OwnerClaims(database, { warn: () => void order.push("not released") });
      vi.spyOn(database.kysely, "deleteFrom").mockImplementation(() => {
        throw new Error("connection lost");
      });
      first.revocations.onNew(async () => void order.push("announced"));
      const [ann, ben] = [await add("ann"), await add("ben")];
      await first.changes[verb](ben, by(ann));
      expect(order).toEqual(["not released", "announced"]);
    },
  );

  test("of two who change the same user at once, one succeeds, and the other gets an error", async () => {
    const { first, second, add } = await begin();
    const [ann, ben] = [await add("ann"), await add("ben")];
    for (let round = 0; round < ROUNDS; round++) {
      const user = (await first.accounts.find(ben.id)) ?? expect.fail();
      const emails = [`one${round}@b.example`, `two${round}@b.example`];
      const outcomes = await Promise.all([
        outcomeOf(first.changes.update(user, { email: emails[0] ?? "" }, by(ann))),
        outcomeOf(second.changes.update(user, { email: emails[1] ?? "" }, by(ann))),
      ]);
      expect(outcomes.toSorted()).toEqual(["FAILED_PRECONDITION", "done"]);
      const { email } = (await second.accounts.find(ben.id)) ?? expect.fail();
      expect(email).toBe(emails[outcomes.indexOf("done")]);
    }
  });

  test("of two users who get the same name at once, one does", async () => {
    const { first, second, add } = await begin();
    const [ann, ben, cal] = [await add("ann"), await add("ben"), await add("cal")];
    const outcomes = await Promise.all([
      outcomeOf(first.changes.update(ben, { username: "Dan" }, by(ann))),
      outcomeOf(second.changes.update(cal, { username: "dan" }, by(ann))),
    ]);
    expect(outcomes.toSorted()).toEqual(["ALREADY_EXISTS", "done"]);
  });

  test("a deletion while the user logs in ends the login, and frees the name once", async () => {
    const { first, second, add } = await begin();
    const ann = await add("ann");
    for (let round = 0; round < ROUNDS; round++) {
      const ben = await add("ben");
      const begun = await second.accounts.findForLogin("ben");
      const version = begun?.passwordVersion ?? expect.fail();
      const [isHeld] = await Promise.all([
        second.database.inTransaction((tx) =>
          second.accounts.holdPassword(tx.$pickTables<"iam_users">(), ben.id, version),
        ),
        first.changes.delete(ben, by(ann)),
      ]);
      // Either the login was complete before, and ended with the deletion, or it is refused.
      expect([true, false]).toContain(isHeld);
      const hold = await second.database.inTransaction((tx) =>
        second.accounts.holdPassword(tx.$pickTables<"iam_users">(), ben.id, version),
      );
      expect(hold).toBe(false);
      expect(await second.accounts.findForLogin("ben")).toBeUndefined();
    }
    const pending = await removalsIn(first.database)
      .selectFrom("pending_removals")
      .select("id")
      .execute();
    expect(pending).toHaveLength(ROUNDS);
  });

  test("nothing changes where the last owner would go", async () => {
    const refused = new ServiceError("FAILED_PRECONDITION", "the last owner");
    const { first, add } = await begin({
      async guard() {
        throw refused;
      },
    });
    const [ann, ben] = [await add("ann"), await add("ben")];
    await expect(first.changes.disable(ben, by(ann))).rejects.toBe(refused);
    await expect(first.changes.delete(ben, by(ann))).rejects.toBe(refused);
    expect(await first.accounts.find(ben.id)).toMatchObject({ disabled: false, etag: ben.etag });
  });
});
