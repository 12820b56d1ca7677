import type { SubjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { IAMOrganizationServiceHandlers } from "../../gen/svc/iam/v1/organizations_server.ts";
import { displayNameProblem } from "../accounts/display-name.ts";
import { changedFields } from "../rpc/field-mask.ts";
import { pageSizeOf } from "../rpc/page-size.ts";
import { toSubject } from "../rpc/relationship-messages.ts";
import type { OrganizationCreations } from "./organization-creations.ts";
import { ORGANIZATION_PAGES, organizationIdProblem } from "./organization-id.ts";
import { organizationMessage } from "./organization-message.ts";
import type { OrganizationFields, OrganizationRecords } from "./organization-records.ts";
import type { OrganizationZones } from "./organization-zones.ts";
import { websiteUrlProblem } from "./website-url.ts";

/** What the handlers need. */
export interface OrganizationHandlersOptions {
  readonly zones: OrganizationZones;
  readonly records: OrganizationRecords;
  readonly creations: OrganizationCreations;
  /** `iam.organization`, which cannot be deleted. */
  readonly organization: string;
}

/** The handlers of IAMOrganizationService. Callers have the system token. */
export function organizationHandlers(
  options: OrganizationHandlersOptions,
): IAMOrganizationServiceHandlers {
  const { zones, records, creations, organization } = options;
  const createOwned = async (
    id: string,
    fields: OrganizationFields,
    owner: SubjectReference,
    signal: AbortSignal,
  ) => {
    const discard = await creations.begin(id, fields);
    if (discard === undefined) return undefined;
    const undo = await zones.makeFirstOwner(id, owner, signal).catch(async (error: unknown) => {
      // After other errors it may have its owner.
      if (error instanceof ServiceError) await discard();
      throw error;
    });
    const record = await creations.finish(id, fields);
    // Another call was faster.
    if (record === undefined) await undo();
    return record;
  };
  return {
    async createOrganization(request, { signal }) {
      const { organizationId, displayName, websiteUrl } = request;
      const problem = { organization_id: organizationIdProblem(organizationId) };
      assertValid({ ...problem, ...problemsOf({ displayName, websiteUrl }) });
      const owner = request.owner === undefined ? undefined : toSubject(request.owner, "owner");
      const fields = { displayName, websiteUrl };
      const record =
        owner === undefined
          ? await records.create(organizationId, fields)
          : await createOwned(organizationId, fields, owner, signal);
      if (record === undefined) throw alreadyExists();
      return { organization: organizationMessage(record) };
    },

    async getOrganization({ organizationId }) {
      const record = await records.find(organizationId);
      if (record === undefined) throw notFound();
      return { organization: organizationMessage(record) };
    },

    async listOrganizations(request) {
      const size = pageSizeOf(request);
      // One more than is returned shows whether there is a next page.
      const found = await records.list(ORGANIZATION_PAGES.read(request.pageToken), size + 1);
      const page = found.slice(0, size);
      const last = page.at(-1);
      return {
        organizations: page.map(organizationMessage),
        nextPageToken:
          found.length > size && last !== undefined ? ORGANIZATION_PAGES.after(last.id) : "",
      };
    },

    async updateOrganization({ organizationId, organization: next, updateMask }) {
      const { displayName = "", websiteUrl = "", etag = "" } = next ?? {};
      const changed = changedFields(updateMask, {
        display_name: displayName !== "",
        website_url: websiteUrl !== "",
      });
      const record = await records.find(organizationId);
      if (record === undefined) throw notFound();
      const fields = {
        displayName: changed.has("display_name") ? displayName : record.displayName,
        websiteUrl: changed.has("website_url") ? websiteUrl : record.websiteUrl,
      };
      assertValid(problemsOf(fields));
      if (etag !== "" && etag !== record.etag) throw changedMeanwhile();
      if (changed.size === 0) return { organization: organizationMessage(record) };
      const stored = await records.replace(organizationId, fields, record.etag);
      if (stored === undefined) throw changedMeanwhile();
      return { organization: organizationMessage(stored) };
    },

    async deleteOrganization({ organizationId }, { signal }) {
      if (organizationId === organization) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          "the organization is that of the configuration (iam.organization): it cannot be deleted",
        );
      }
      const object = await zones.anyObject(organizationId, signal);
      if (object !== undefined) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          `${object} belongs to the zone of the organization: delete what belongs to it first`,
        );
      }
      switch (await records.delete(organizationId)) {
        case "deleted":
          return {};
        case "absent":
          throw notFound();
        case "has_groups":
          throw new ServiceError(
            "FAILED_PRECONDITION",
            "the organization has a group, or one is being deleted: delete them, and try again",
          );
      }
    },
  };
}

function problemsOf({ displayName, websiteUrl }: OrganizationFields) {
  return {
    display_name: displayNameProblem(displayName),
    website_url: websiteUrlProblem(websiteUrl),
  };
}

function assertValid(problems: Readonly<Record<string, string | undefined>>): void {
  const found = Object.entries(problems).filter((entry) => entry[1] !== undefined);
  if (found.length === 0) return;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    found.map(([field, problem]) => `${field} ${problem}`).join("; "),
    { details: { fields: Object.fromEntries(found) } },
  );
}

function alreadyExists(): ServiceError {
  return new ServiceError("ALREADY_EXISTS", "an organization has this id, or had it");
}

function notFound(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the organization does not exist");
}

function changedMeanwhile(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    "the organization was changed meanwhile: read it again, and repeat the change",
  );
}
