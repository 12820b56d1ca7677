import { IAMLocalUserService } from "../../gen/svc/iam/v1/users_pb.ts";
import { bindIAMLocalUserService } from "../../gen/svc/iam/v1/users_server.ts";
import { AccountChanges } from "../accounts/account-changes.ts";
import { ResetLinks } from "../accounts/reset-links.ts";
import { UserPages } from "../accounts/user-pages.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import { unimplemented } from "../rpc/unimplemented.ts";
import type { PasswordTables } from "../store/password-tables.ts";
import type { UserTables } from "../store/user-tables.ts";
import { AccountRights } from "./account-rights.ts";
import { refuseBarredCallers } from "./barred-callers.ts";
import { Groups } from "./groups.ts";
import { userChangeHandlers } from "./user-change-handlers.ts";
import { UserChanges } from "./user-changes.ts";
import { userHandlers } from "./user-handlers.ts";
import { userRemoval } from "./user-removal.ts";

const ELSEWHERE = "local users exist with the embedded identity provider only";

/** Opens IAMLocalUserService. */
export function openUsers(context: PartContext): ServicePart {
  const { configuration, database, engine, identity, removals, rights } = context;
  // Also with another provider: it finishes what was begun before.
  removals.register(userRemoval);
  const { accounts, hasher, provider } = identity;
  const { sessions } = provider;
  if (sessions === undefined) {
    return { bindings: [bindIAMLocalUserService(unimplemented(ELSEWHERE))] };
  }
  const { organization } = configuration.sections.iam;
  const groups = new Groups(engine);
  const changes = new UserChanges({
    database,
    accounts,
    changes: new AccountChanges(organization),
    sessions,
    links: new ResetLinks(database.as<PasswordTables>()),
    removals,
    rights: new AccountRights(engine, organization),
    owners: rights.lastOwner,
    organization,
  });
  const pages = new UserPages(database.as<UserTables>(), organization);
  const handlers = {
    ...userHandlers({ accounts, pages, hasher, groups, organization }),
    ...userChangeHandlers({ accounts, changes, groups, organization }),
  };
  return {
    bindings: [bindIAMLocalUserService(handlers)],
    idempotentRpcs: [`${IAMLocalUserService.typeName}/CreateUser`],
    admission: [refuseBarredCallers(database, organization)],
  };
}
