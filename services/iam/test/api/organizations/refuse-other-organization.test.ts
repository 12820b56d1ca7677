import { databaseTime } from "svc-access/database";
import { beforeEach, describe, expect, test } from "vitest";
import { insertOrganization } from "../../../src/api/organizations/organization-records.ts";
import { refuseOtherOrganization } from "../../../src/api/organizations/refuse-other-organization.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { postgres, sqlite, stackDatabase } from "../../support/databases.ts";

const open = async () => (await stackDatabase()).open().as<IamTables>();
let database: Awaited<ReturnType<typeof open>>;
beforeEach(async () => {
  database = await open();
});

const addOrganization = (id: string) =>
  insertOrganization(
    database.kysely.$pickTables<"iam_organizations">(),
    { id, etag: "an etag", displayName: id, websiteUrl: "" },
    databaseTime(database.kind),
  );
const addUser = () =>
  new LocalAccounts(database.kysely, "acme").create({
    username: "root",
    displayName: "Root",
    email: "root@example.com",
    passwordHash: "not a hash",
  });

const start = (organization: string) => refuseOtherOrganization(database, organization);
const REFUSAL =
  "iam.organization is umbrella, and the users of this database belong to acme: write that one, or name another database";

test("a start with another organization than that of the users is refused", async () => {
  await start("acme");
  await addUser();
  await expect(start("umbrella")).rejects.toThrow(REFUSAL);
  // Whoever has made it meanwhile: its record does not say whose the users are.
  await addOrganization("umbrella");
  await expect(start("umbrella")).rejects.toThrow(REFUSAL);
  await start("acme");
});

test("while there is nobody, the last start decides, and a replica of before makes nobody", async () => {
  await start("acme");
  await start("umbrella");
  await expect(addUser()).rejects.toThrow(
    "the users of this database belong to umbrella since a later start: correct iam.organization of the replicas",
  );
  await start("acme");
  await addUser();
  await expect(start("umbrella")).rejects.toThrow(REFUSAL);
});

test("a user whose deletion is under way is somebody, until it has ended", async () => {
  await start("acme");
  await addUser();
  await database.kysely.updateTable("iam_users").set({ deleted_time: 1 }).execute();
  await expect(start("umbrella")).rejects.toThrow(REFUSAL);
  await database.kysely.deleteFrom("iam_users").execute();
  await start("umbrella");
});

describe("in a database of before that was stored", () => {
  test("a start with the users of another organization is refused, and decides nothing", async () => {
    await addOrganization("acme");
    await addUser();
    await expect(start("umbrella")).rejects.toThrow(REFUSAL);
    await start("acme");
    await expect(start("umbrella")).rejects.toThrow(REFUSAL);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["an empty database", async () => {}],
    ["other organizations and no users", () => addOrganization("acme")],
    ["users of before there were organizations", addUser],
    [
      "its own users",
      async () => {
        await addOrganization("acme");
        await addOrganization("umbrella");
        await addUser();
      },
    ],
  ])("a start with %s is not", async (_, prepare) => {
    await prepare();
    await start("umbrella");
  });
});

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("at two replicas, in %s", async (_, prepare) => {
  const create = await prepare();
  if (create === undefined) return;
  const found = create;
  const user = { username: "root", displayName: "Root", email: "root@example.com" };
  const account = { ...user, passwordHash: "not a hash" };
  const outcomeOf = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: unknown) => (error as Error).message,
    );
  const openBoth = async () => {
    const { open } = await found();
    const [first, second] = [open().as<IamTables>(), open().as<IamTables>()];
    await refuseOtherOrganization(first, "acme");
    return { first, second };
  };

  test("a start waits for whoever makes the first user, and is refused", async () => {
    const { first, second } = await openBoth();
    const accounts = new LocalAccounts(first.kysely as never, "acme");
    let other = Promise.resolve("not begun");
    await first.inTransaction(async (tx) => {
      await accounts.create(account, "root", tx as never);
      // Not awaited: it waits for this transaction.
      other = outcomeOf(refuseOtherOrganization(second, "umbrella"));
      // In the time of a start that does not wait.
      for (let read = 0; read < 20; read++) await tx.selectFrom("iam_users").select("id").execute();
    });
    expect(await other).toContain(REFUSAL);
    await refuseOtherOrganization(first, "acme");
  });

  test("of the first user of one organization and a start of another at once, one succeeds", async () => {
    const { first, second } = await openBoth();
    const accounts = new LocalAccounts(first.kysely as never, "acme");
    for (let round = 0; round < 8; round++) {
      const outcomes = await Promise.all([
        outcomeOf(accounts.create(account)),
        outcomeOf(refuseOtherOrganization(second, "umbrella")),
      ]);
      expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
      await first.kysely.deleteFrom("iam_users").execute();
      await refuseOtherOrganization(first, "acme");
    }
  });
});
