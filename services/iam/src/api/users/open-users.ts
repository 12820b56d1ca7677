import { IAMLocalUserService } from "../../../gen/svc/iam/v1/users_pb.ts";
import { bindIAMLocalUserService } from "../../../gen/svc/iam/v1/users_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import type { PasswordTables } from "../../ground/store/password-tables.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { AccountChanges } from "../../people/accounts/account-changes.ts";
import { ResetLinks } from "../../people/accounts/reset-links.ts";
import { UserPages } from "../../people/accounts/user-pages.ts";
import { GroupRecords } from "../groups/group-records.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { AccountRights } from "./account-rights.ts";
import { refuseBarredCallers } from "./barred-callers.ts";
import { ShownGroups } from "./shown-groups.ts";
import { userChangeHandlers } from "./user-change-handlers.ts";
import { UserChanges } from "./user-changes.ts";
import { userHandlers } from "./user-handlers.ts";
import { userRemoval } from "./user-removal.ts";

const ELSEWHERE = "local users exist with the embedded identity provider only";

/** Opens IAMLocalUserService. */
export function openUsers(context: PartContext): ServicePart {
  const { configuration, database, engine, identity, pageTokens, removals, rights } = context;
  // Also with another provider: it finishes what was begun before.
  removals.register(userRemoval);
  const { accounts, hasher, provider } = identity;
  const { sessions } = provider;
  if (sessions === undefined) {
    return { bindings: [bindIAMLocalUserService(unimplemented(ELSEWHERE))] };
  }
  const { organization } = configuration.sections.iam;
  const groups = new ShownGroups(engine, organization, new GroupRecords(database, removals));
  const accountRights = new AccountRights(engine, organization);
  const changes = new UserChanges({
    database,
    accounts,
    changes: new AccountChanges(organization),
    sessions,
    links: new ResetLinks(database.as<PasswordTables>()),
    removals,
    rights: accountRights,
    owners: rights.lastOwner,
    organization,
  });
  const pages = new UserPages(database.as<UserTables>(), organization);
  const handlers = {
    ...userHandlers({
      accounts,
      pages,
      hasher,
      groups,
      rights: accountRights,
      pageTokens,
      organization,
    }),
    ...userChangeHandlers({ accounts, changes, groups, organization }),
  };
  return {
    bindings: [bindIAMLocalUserService(handlers)],
    idempotentRpcs: [`${IAMLocalUserService.typeName}/CreateUser`],
    admission: [refuseBarredCallers(database, organization)],
  };
}
