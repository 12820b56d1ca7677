import { create } from "@bufbuild/protobuf";
import { type CallContext, requirePrincipal } from "svc-access/runtime";
import {
  ServiceAccountSchema,
  type UpdateServiceAccountRequest,
} from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import type { IAMServiceAccountServiceHandlers } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { AUDIENCE_RULE, isAudience, MAX_AUDIENCES } from "../../config/audience.ts";
import { refuseFixedFields } from "../../ground/rpc/fixed-fields.ts";
import { changeNewest } from "../../ground/rpc/lost-race.ts";
import { PageTokens, pageSizeOf } from "../../ground/rpc/paging.ts";
import { changedFields, refuseInvalidFields } from "../../ground/rpc/request-fields.ts";
import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { displayNameProblem } from "../../people/accounts/account-texts.ts";
import type { ServiceAccount } from "../../people/accounts/service-accounts/service-account.ts";
import type { ServiceAccountFields } from "../../people/accounts/service-accounts/service-accounts.ts";
import { assertOwnOrganization } from "../own-organization.ts";
import type { KnownAccounts } from "./known-accounts.ts";
import type { ServiceAccountChanges } from "./service-account-changes.ts";
import { changedMeanwhile } from "./service-account-errors.ts";
import { accountMessage } from "./service-account-messages.ts";

/** What the handlers need. */
export interface ServiceAccountHandlersOptions {
  readonly known: KnownAccounts;
  readonly changes: ServiceAccountChanges;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
  /** `iam.organization`: whose service accounts they are. */
  readonly organization: string;
}

const LIST = "IAMServiceAccountService/ListServiceAccounts";

/** The handlers of the accounts, without those of their keys. */
export type ServiceAccountHandlers = Omit<
  IAMServiceAccountServiceHandlers,
  "createServiceAccountKey" | "listServiceAccountKeys" | "deleteServiceAccountKey"
>;

/** The handlers of IAMServiceAccountService that list, read and change accounts. */
export function serviceAccountHandlers(
  options: ServiceAccountHandlersOptions,
): ServiceAccountHandlers {
  const { known, changes, pageTokens, organization } = options;
  const update = async (request: UpdateServiceAccountRequest, context: CallContext) => {
    const account = await known.changeable(request.serviceAccountId, context);
    const change = changeOf(request, account);
    const etag = request.serviceAccount?.etag ?? "";
    if (etag !== "" && etag !== account.etag) throw changedMeanwhile();
    const { serviceAccount: given, updateMask: mask } = request;
    await refuseFixedFields(
      { schema: ServiceAccountSchema, given, mask, changeable: ["display_name", "audience"] },
      () => create(ServiceAccountSchema, shown(account).serviceAccount),
    );
    if (Object.keys(change).length === 0) return shown(account);
    return shown(await changes.update(account, change, context));
  };
  return {
    async createServiceAccount({ displayName, audience }, context) {
      assertOwnOrganization(context, organization);
      assertValid({ displayName, audience });
      const account = await changes.create({ displayName, audience }, context);
      context.audit.setResource(`service_account:${account.id}`);
      return shown(account);
    },

    async getServiceAccount({ serviceAccountId }, context) {
      return { serviceAccount: accountMessage(await known.named(serviceAccountId, context)) };
    },

    async listServiceAccounts(request, context) {
      assertOwnOrganization(context, organization);
      const size = pageSizeOf(request);
      const caller = requirePrincipal(context);
      const tokens = new PageTokens(new SealedTokens(pageTokens, LIST, caller));
      // One more than is returned shows whether there is a next page.
      const found = await known.list(tokens.read(request.pageToken), size + 1);
      const page = found.slice(0, size);
      const last = page.at(-1);
      return {
        serviceAccounts: page.map(accountMessage),
        nextPageToken:
          found.length > size && last !== undefined ? tokens.after(last.account.id) : "",
      };
    },

    async updateServiceAccount(request, context) {
      const etag = request.serviceAccount?.etag ?? "";
      return changeNewest(etag, context.signal, () => update(request, context));
    },

    async disableServiceAccount({ serviceAccountId }, context) {
      return shown(
        await changes.disable(await known.changeable(serviceAccountId, context), context),
      );
    },

    async enableServiceAccount({ serviceAccountId }, context) {
      return shown(
        await changes.enable(await known.changeable(serviceAccountId, context), context),
      );
    },

    async deleteServiceAccount({ serviceAccountId }, context) {
      await changes.delete(await known.changeable(serviceAccountId, context), context);
      return {};
    },
  };
}

function shown(account: ServiceAccount) {
  return { serviceAccount: accountMessage({ declared: false, account }) };
}

/** @throws ServiceError INVALID_ARGUMENT for fields and values that are not valid */
function changeOf(
  request: UpdateServiceAccountRequest,
  account: ServiceAccount,
): Partial<ServiceAccountFields> {
  const { displayName = "", audience = [] } = request.serviceAccount ?? {};
  const changed = changedFields(request.updateMask, {
    display_name: displayName !== "",
    audience: audience.length > 0,
  });
  const change = {
    ...(changed.has("display_name") ? { displayName } : {}),
    ...(changed.has("audience") ? { audience } : {}),
  };
  assertValid(change, account);
  return change;
}

/** @param stored what it keeps, also of before a rule on new names */
function assertValid(
  { displayName, audience }: Partial<ServiceAccountFields>,
  stored?: ServiceAccount,
): void {
  const isNamed = displayName !== undefined && displayName !== stored?.displayName;
  refuseInvalidFields({
    display_name: isNamed ? displayNameProblem(displayName) : undefined,
    audience: audience === undefined ? undefined : audienceProblem(audience),
  });
}

function audienceProblem(audience: readonly string[]): string | undefined {
  if (audience.length > MAX_AUDIENCES) return `must have at most ${MAX_AUDIENCES} entries`;
  if (new Set(audience).size < audience.length) return "has an entry twice";
  return audience.every(isAudience)
    ? undefined
    : `has an entry that is not valid: each ${AUDIENCE_RULE}`;
}
