/** Starts while CreateOrganization creates the organization of the configuration. */
import type { AuthorizationEngine } from "svc-access/authz";
import type { ServiceDatabase } from "svc-access/database";
import { expect, test } from "vitest";
import { OrganizationCreations } from "../../../src/api/organizations/organization-creations.ts";
import { OrganizationRecords } from "../../../src/api/organizations/organization-records.ts";
import { OrganizationZones } from "../../../src/api/organizations/organization-zones.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { type IamService, startIam } from "../../support/iam-service.ts";

const ID = "umbrella";
const FIELDS = { displayName: "Umbrella", websiteUrl: "" };
const { signal } = new AbortController();

function partsOf({ options }: IamService) {
  const database = options.database as ServiceDatabase<IamTables>;
  const zones = new OrganizationZones(options.engine as AuthorizationEngine);
  return {
    database,
    zones,
    records: new OrganizationRecords(database, { add: async () => undefined }),
    creations: new OrganizationCreations(database, zones),
  };
}

test.each([
  ["completes", FIELDS.displayName],
  ["gives up", ID],
])("a start leaves the organization to a call that %s [IAM-13]", async (what, displayName) => {
  const before = await startIam();
  await partsOf(before).creations.begin(ID, FIELDS);
  await before.stop();
  const { folder } = before;
  const iam = await startIam({ folder, organization: ID });
  try {
    const { database, zones, records, creations } = partsOf(iam);
    expect(await records.find(ID)).toBeUndefined();
    // As the call does that is repeated, or goes on in another replica.
    await creations.begin(ID, FIELDS, "token");
    if (what === "completes") {
      await zones.makeFirstOwner(ID, { type: "user", id: "olga" }, signal);
      expect(await creations.finish(ID, FIELDS, "token")).toMatchObject(FIELDS);
    } else {
      const { kysely } = database;
      await kysely.deleteFrom("iam_organization_creations").where("id", "=", ID).execute();
    }
    const job = iam.options.jobs?.find(({ name }) => name === "unfinished_organizations");
    await job?.run(signal);
    expect(await records.find(ID)).toMatchObject({ displayName });
  } finally {
    await iam.stop();
  }
});
