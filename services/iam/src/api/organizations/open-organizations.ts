import { StartUpError } from "svc-access/runtime";
import { IAMOrganizationService } from "../../../gen/svc/iam/v1/organizations_pb.ts";
import { bindIAMOrganizationService } from "../../../gen/svc/iam/v1/organizations_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { ensureOrganization } from "./configured-organization.ts";
import { OrganizationCreations } from "./organization-creations.ts";
import { organizationHandlers } from "./organization-handlers.ts";
import { OrganizationRecords } from "./organization-records.ts";
import { OrganizationZones } from "./organization-zones.ts";

const ELSEWHERE = "organizations are kept by Casdoor: create, change and delete them there";

/**
 * Opens IAMOrganizationService. The organization of the configuration always exists, unless it is being created.
 *
 * @throws StartUpError if it was deleted
 */
export async function openOrganizations(context: PartContext): Promise<ServicePart> {
  const { configuration, database, engine, logger, pageTokens, removals } = context;
  const { organization } = configuration.sections.iam;
  const records = new OrganizationRecords(database, removals);
  // The row of one that is deleted stays, so its id is never used again.
  removals.register({ name: "organization", objectType: "zone", deleteRecord: async () => {} });
  if (configuration.config.security.authn.provider === "casdoor") {
    return { bindings: [bindIAMOrganizationService(unimplemented(ELSEWHERE))] };
  }
  const zones = new OrganizationZones(engine);
  const creations = new OrganizationCreations(database, zones);
  const ensure = () => ensureOrganization(organization, records, creations);
  const state = await ensure();
  if (state === "deleted") {
    throw new StartUpError([
      `iam.organization names ${organization}, which was deleted: ids of organizations are never used again`,
    ]);
  }
  if (state === "under_way") {
    logger.warn(
      { organization },
      "iam.organization is being created by a call of CreateOrganization: it exists once that has ended, or after 10 minutes",
    );
  }
  const handlers = organizationHandlers({ zones, records, creations, pageTokens, organization });
  return {
    bindings: [bindIAMOrganizationService(handlers)],
    jobs: [creations.jobWith(async () => void (await ensure()))],
    idempotentRpcs: [`${IAMOrganizationService.typeName}/CreateOrganization`],
  };
}
