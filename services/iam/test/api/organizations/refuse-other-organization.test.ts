import { databaseTime } from "svc-access/database";
import { beforeEach, expect, test } from "vitest";
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

test("a start with the users of another organization is refused", async () => {
  await addOrganization("acme");
  await addUser();
  await expect(refuseOtherOrganization(database, "umbrella")).rejects.toThrow(
    "iam.organization is umbrella, and the users of this database belong to another organization: write that one (the first that it knows: acme), or name another database",
  );
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
  await refuseOtherOrganization(database, "umbrella");
});
