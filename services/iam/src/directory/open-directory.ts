import { bindIAMDirectoryService } from "../../gen/svc/iam/v1/directory_server.ts";
import { UserSearch } from "../accounts/user-search.ts";
import { GroupRecords } from "../groups/group-records.ts";
import { GroupTree } from "../groups/group-tree.ts";
import { OrganizationRecords } from "../organizations/organization-records.ts";
import type { PartContext, ServicePart } from "../parts/service-part.ts";
import type { Directory } from "../provider/directory.ts";
import { unimplemented } from "../rpc/unimplemented.ts";
import { Groups } from "../users/groups.ts";
import { directoryHandlers } from "./directory-handlers.ts";
import { LocalDirectory } from "./local-directory.ts";

const ABSENT = "the identity provider has no directory that can be read";

/** Opens IAMDirectoryService. */
export function openDirectory(context: PartContext): ServicePart {
  const directory = directoryOf(context);
  const handlers =
    directory === undefined
      ? unimplemented<ReturnType<typeof directoryHandlers>>(ABSENT)
      : directoryHandlers(directory);
  return { bindings: [bindIAMDirectoryService(handlers)] };
}

function directoryOf(context: PartContext): Directory | undefined {
  const { configuration, database, engine, identity, removals } = context;
  const { config, sections } = configuration;
  if (config.security.authn.provider !== "embedded") return identity.provider.directory;
  const { organization } = sections.iam;
  return new LocalDirectory({
    engine,
    accounts: identity.accounts,
    search: new UserSearch(database.kysely, organization),
    groupsOf: new Groups(engine),
    groups: new GroupRecords(database, removals),
    tree: new GroupTree(engine),
    organizations: new OrganizationRecords(database, removals),
    organization,
  });
}
