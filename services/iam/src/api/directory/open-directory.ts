import {
  bindIAMDirectoryService,
  type IAMDirectoryServiceHandlers,
} from "../../../gen/svc/iam/v1/directory_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import { UserSearch } from "../../people/accounts/user-search.ts";
import { GroupRecords } from "../groups/group-records.ts";
import { GroupTree } from "../groups/group-tree.ts";
import { GroupVisibility } from "../groups/group-visibility.ts";
import { OrganizationRecords } from "../organizations/organization-records.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { Groups } from "../users/groups.ts";
import { directoryHandlers } from "./directory-handlers.ts";
import { LocalDirectory } from "./local-directory.ts";

const NO_USERS = "the identity provider has no directory of users that can be read";

/** Opens IAMDirectoryService. */
export function openDirectory(context: PartContext): ServicePart {
  return { bindings: [bindIAMDirectoryService(handlersOf(context))] };
}

function handlersOf(context: PartContext): IAMDirectoryServiceHandlers {
  const { configuration, database, engine, identity, pageTokens, removals } = context;
  const { directory } = identity.provider;
  if (directory !== undefined) {
    return directoryHandlers(directory, new GroupVisibility(engine, undefined), pageTokens);
  }
  const groups = new GroupRecords(database, removals);
  const visibility = new GroupVisibility(engine, groups);
  const own = directoryHandlers(localDirectory(context, groups), visibility, pageTokens);
  if (configuration.config.security.authn.provider === "embedded") return own;
  // Groups and organizations are records of this service, also where people log in elsewhere.
  const { getUser, listUsers } = unimplemented<IAMDirectoryServiceHandlers>(NO_USERS);
  return { ...own, getUser, listUsers };
}

function localDirectory(context: PartContext, groups: GroupRecords): LocalDirectory {
  const { configuration, database, engine, identity, removals } = context;
  const { organization } = configuration.sections.iam;
  return new LocalDirectory({
    engine,
    accounts: identity.accounts,
    search: new UserSearch(database.kysely, organization),
    groupsOf: new Groups(engine),
    groups,
    tree: new GroupTree(engine),
    organizations: new OrganizationRecords(database, removals),
    organization,
  });
}
