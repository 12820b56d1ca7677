import { IAMServiceAccountService } from "../../../gen/svc/iam/v1/service_accounts_pb.ts";
import { bindIAMServiceAccountService } from "../../../gen/svc/iam/v1/service_accounts_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import { AccountChanges } from "../../people/accounts/account-changes.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { AccountRights } from "../users/account-rights.ts";
import { AccountWrites } from "./account-writes.ts";
import { KnownAccounts } from "./known-accounts.ts";
import { ServiceAccountChanges } from "./service-account-changes.ts";
import { serviceAccountHandlers } from "./service-account-handlers.ts";
import { ServiceAccountKeyChanges } from "./service-account-key-changes.ts";
import { serviceAccountKeyHandlers } from "./service-account-key-handlers.ts";
import { serviceAccountRemoval } from "./service-account-removal.ts";

const ELSEWHERE =
  "service accounts exist with the embedded identity provider only; with another one, at that provider";

/** Opens IAMServiceAccountService. */
export function openServiceAccounts(context: PartContext): ServicePart {
  const { configuration, database, engine, identity, pageTokens, removals } = context;
  // Also with another provider: it finishes what was begun before.
  removals.register(serviceAccountRemoval);
  if (configuration.config.security.authn.provider !== "embedded") {
    return { bindings: [bindIAMServiceAccountService(unimplemented(ELSEWHERE))] };
  }
  const { organization } = configuration.sections.iam;
  const { serviceAccounts: accounts, revocations, provider } = identity;
  const clients = () => provider.management?.clients() ?? [];
  const known = new KnownAccounts(accounts, clients, organization);
  const writes = new AccountWrites({
    database,
    users: new AccountChanges(organization),
    revocations,
    rights: new AccountRights(engine, organization),
    organization,
  });
  const handlers = {
    ...serviceAccountHandlers({
      known,
      changes: new ServiceAccountChanges({ accounts, writes, removals }),
      pageTokens,
      organization,
    }),
    ...serviceAccountKeyHandlers({
      database,
      known,
      changes: new ServiceAccountKeyChanges({ accounts, writes }),
    }),
  };
  return {
    bindings: [bindIAMServiceAccountService(handlers)],
    idempotentRpcs: ["CreateServiceAccount", "CreateServiceAccountKey"].map(
      (rpc) => `${IAMServiceAccountService.typeName}/${rpc}`,
    ),
  };
}
