import { create } from "@bufbuild/protobuf";
import type { SubjectReference } from "svc-access/authz";
import { type CallContext, creationId, ServiceError } from "svc-access/runtime";
import { OrganizationSchema } from "../../../gen/svc/iam/v1/directory_pb.ts";
import type { UpdateOrganizationRequest } from "../../../gen/svc/iam/v1/organizations_pb.ts";
import type { IAMOrganizationServiceHandlers } from "../../../gen/svc/iam/v1/organizations_server.ts";
import { refuseFixedFields } from "../../ground/rpc/fixed-fields.ts";
import { ChangedMeanwhileError, changeNewest } from "../../ground/rpc/lost-race.ts";
import { PageTokens, pageSizeOf } from "../../ground/rpc/paging.ts";
import { toSubject } from "../../ground/rpc/relationship-messages.ts";
import { changedFields, refuseInvalidFields, required } from "../../ground/rpc/request-fields.ts";
import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { displayNameProblem } from "../../people/accounts/account-texts.ts";
import type { OrganizationCreations } from "./organization-creations.ts";
import {
  organizationIdProblem,
  organizationMessage,
  websiteUrlProblem,
} from "./organization-message.ts";
import type { OrganizationFields, OrganizationRecords } from "./organization-records.ts";
import type { OrganizationZones } from "./organization-zones.ts";

/** What the handlers need. */
export interface OrganizationHandlersOptions {
  readonly zones: OrganizationZones;
  readonly records: OrganizationRecords;
  readonly creations: OrganizationCreations;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
  /** `iam.organization`, which cannot be deleted. */
  readonly organization: string;
}

const LIST = "IAMOrganizationService/ListOrganizations";
/** Whoever has the system token is nobody in particular. */
const SYSTEM = { subjectType: "", subjectId: "" };

/** The handlers of IAMOrganizationService. Callers have the system token. */
export function organizationHandlers(
  options: OrganizationHandlersOptions,
): IAMOrganizationServiceHandlers {
  const { zones, records, creations, pageTokens, organization } = options;
  const tokens = new PageTokens(new SealedTokens(pageTokens, LIST, SYSTEM));
  const createOwned = async (
    id: string,
    fields: OrganizationFields,
    owner: SubjectReference,
    context: CallContext,
  ) => {
    const { signal } = context;
    const token = creationId(context);
    const discard = await creations.begin(id, fields, token);
    if (discard === undefined) return undefined;
    const undo = await zones.makeFirstOwner(id, owner, signal).catch(async (error: unknown) => {
      // After other errors it may have its owner.
      if (error instanceof ServiceError) await discard();
      throw error;
    });
    const record = await creations.finish(id, fields, token);
    // Another call may have finished it meanwhile, with this owner.
    if (record === undefined && (await records.find(id)) === undefined) await undo();
    return record;
  };
  const createUnowned = async (id: string, fields: OrganizationFields, context: CallContext) => {
    const record = await creations.create(id, fields, creationId(context));
    if (record === "under_way") throw isBeingCreated();
    return record;
  };
  /** Of an earlier call with the same key, which has ended before it could say so. */
  const madeBefore = async (id: string, context: CallContext) => {
    const found = await records.find(id);
    return found?.etag === creationId(context) ? found : undefined;
  };
  const update = async ({
    organizationId,
    organization: next,
    updateMask,
  }: UpdateOrganizationRequest) => {
    const { displayName = "", websiteUrl = "", etag = "" } = next ?? {};
    const changed = changedFields(updateMask, {
      display_name: displayName !== "",
      website_url: websiteUrl !== "",
    });
    const record = await records.find(required("organization_id", organizationId));
    if (record === undefined) throw notFound();
    const fields = {
      displayName: changed.has("display_name") ? displayName : record.displayName,
      websiteUrl: changed.has("website_url") ? websiteUrl : record.websiteUrl,
    };
    refuseInvalidFields(problemsOf(fields, record));
    if (etag !== "" && etag !== record.etag) throw changedMeanwhile();
    await refuseFixedFields(
      {
        schema: OrganizationSchema,
        given: next,
        mask: updateMask,
        changeable: ["display_name", "website_url"],
      },
      () => create(OrganizationSchema, organizationMessage(record)),
    );
    if (changed.size === 0) return { organization: organizationMessage(record) };
    const stored = await records.replace(organizationId, fields, record.etag);
    if (stored === undefined) throw changedMeanwhile();
    return { organization: organizationMessage(stored) };
  };
  return {
    async createOrganization(request, context) {
      const { organizationId, displayName, websiteUrl } = request;
      const problem = { organization_id: organizationIdProblem(organizationId) };
      refuseInvalidFields({ ...problem, ...problemsOf({ displayName, websiteUrl }) });
      const owner = request.owner === undefined ? undefined : toSubject(request.owner, "owner");
      const fields = { displayName, websiteUrl };
      const record =
        owner === undefined
          ? await createUnowned(organizationId, fields, context)
          : await createOwned(organizationId, fields, owner, context);
      const made = record ?? (await madeBefore(organizationId, context));
      if (made === undefined) throw alreadyExists();
      return { organization: organizationMessage(made) };
    },

    async getOrganization({ organizationId }) {
      const record = await records.find(required("organization_id", organizationId));
      if (record === undefined) throw notFound();
      return { organization: organizationMessage(record) };
    },

    async listOrganizations(request) {
      const size = pageSizeOf(request);
      // One more than is returned shows whether there is a next page.
      const found = await records.list(tokens.read(request.pageToken), size + 1);
      const page = found.slice(0, size);
      const last = page.at(-1);
      return {
        organizations: page.map(organizationMessage),
        nextPageToken: found.length > size && last !== undefined ? tokens.after(last.id) : "",
      };
    },

    async updateOrganization(request, { signal }) {
      const etag = request.organization?.etag ?? "";
      return changeNewest(etag, signal, () => update(request));
    },

    async deleteOrganization({ organizationId }, { signal }) {
      required("organization_id", organizationId);
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

/** @param stored what it keeps, also of before a rule on new values */
function problemsOf({ displayName, websiteUrl }: OrganizationFields, stored?: OrganizationFields) {
  return {
    display_name: displayName === stored?.displayName ? undefined : displayNameProblem(displayName),
    website_url: websiteUrl === stored?.websiteUrl ? undefined : websiteUrlProblem(websiteUrl),
  };
}

function alreadyExists(): ServiceError {
  return new ServiceError("ALREADY_EXISTS", "an organization has this id, or had it");
}

function isBeingCreated(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    "an organization with this id is being created with an owner: wait until it exists, or for 10 minutes",
  );
}

function notFound(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the organization does not exist");
}

function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the organization was changed meanwhile: read it again, and repeat the change",
  );
}
