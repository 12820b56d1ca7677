import { databaseTime } from "svc-access/database";
import { beforeEach, describe, expect, test } from "vitest";
import { insertOrganization } from "../../../src/api/organizations/organization-records.ts";
import { refuseOtherOrganization } from "../../../src/api/organizations/refuse-other-organization.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { stackDatabase } from "../../support/databases.ts";

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
