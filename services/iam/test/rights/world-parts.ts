/** What a random sequence of changes runs on: the parts of the service, over a SQLite file and an engine in memory. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthorizationEngine } from "svc-access/authz";
import { openServiceDatabase, type ServiceDatabase, sql } from "svc-access/database";
import { GroupCreation } from "../../src/api/groups/group-creation.ts";
import { GroupDeletion } from "../../src/api/groups/group-deletion.ts";
import { GroupMembers } from "../../src/api/groups/group-members.ts";
import { GroupMoves } from "../../src/api/groups/group-moves.ts";
import { GroupRecords } from "../../src/api/groups/group-records.ts";
import { GroupTree } from "../../src/api/groups/group-tree.ts";
import { MoveRights } from "../../src/api/groups/move-rights.ts";
import { PlaceRights } from "../../src/api/groups/place-rights.ts";
import { PasswordChanges } from "../../src/api/password/password-changes.ts";
import { passwordHandlers } from "../../src/api/password/password-handlers.ts";
import { ResetRights } from "../../src/api/password/reset-rights.ts";
import { secondFactorHandlers } from "../../src/api/second-factors/second-factor-handlers.ts";
import { AccountWrites } from "../../src/api/service-accounts/account-writes.ts";
import { ServiceAccountChanges } from "../../src/api/service-accounts/service-account-changes.ts";
import { ServiceAccountKeyChanges } from "../../src/api/service-accounts/service-account-key-changes.ts";
import { serviceAccountRemoval } from "../../src/api/service-accounts/service-account-removal.ts";
import { sessionHandlers } from "../../src/api/sessions/session-handlers.ts";
import { AccountRights } from "../../src/api/users/account-rights.ts";
import { UserChanges } from "../../src/api/users/user-changes.ts";
import { userRemoval } from "../../src/api/users/user-removal.ts";
import { openIamRemovals } from "../../src/ground/removals/removals.ts";
import type { OwnerClaimTables } from "../../src/ground/store/owner-claim-tables.ts";
import type { PasswordTables } from "../../src/ground/store/password-tables.ts";
import { ProviderDatabase } from "../../src/ground/store/provider-database.ts";
import type { ProviderTables } from "../../src/ground/store/provider-tables.ts";
import type { ServiceAccountTables } from "../../src/ground/store/service-account-tables.ts";
import { IAM_TABLES, type IamTables } from "../../src/ground/store/tables.ts";
import { AccountChanges } from "../../src/people/accounts/account-changes.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { PasswordHasher } from "../../src/people/accounts/passwords/password-hasher.ts";
import { ResetLinks } from "../../src/people/accounts/reset-links.ts";
import { addKey } from "../../src/people/accounts/service-accounts/service-account-keys.ts";
import { ServiceAccounts } from "../../src/people/accounts/service-accounts/service-accounts.ts";
import { Revocations } from "../../src/people/sessions/revocations.ts";
import { Sessions } from "../../src/people/sessions/sessions.ts";
import type { UserSessions } from "../../src/people/sessions/user-sessions.ts";
import { LastOwner } from "../../src/rights/last-owner.ts";
import { OwnerClaims } from "../../src/rights/owner-claims.ts";
import { RelationshipRules } from "../../src/rights/relationship-rules.ts";
import { removalsIn } from "../ground/removals/pending-removals.ts";
import { CHEAP } from "../support/hash-cost.ts";
import { ACCOUNTS, type InitialState, keyOf, ORGANIZATION } from "./initial-state.ts";
import { NO_LOG, PAGE_TOKENS } from "./rights-engine.ts";

/** The database of all sequences of a test. */
export type WorldDatabase = ServiceDatabase<ProviderTables>;

/** Opens a database, which removes its file when it is closed. */
export async function openWorldDatabase(): Promise<WorldDatabase & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-world-"));
  const settings = {
    driver: "sqlite",
    file: join(folder, "iam.db"),
    max_open_conns: 1,
    max_idle_conns: 1,
    conn_max_lifetime_ns: 60e9,
    slow_query_threshold_ns: 60e9,
  } as const;
  const database = await openServiceDatabase<ProviderTables>({ database: settings }, IAM_TABLES);
  // Nothing is kept, and each commit would wait for the disk.
  await sql`pragma synchronous = off`.execute(database.kysely);
  return Object.assign(database, {
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  });
}

const CHANGED = [
  "iam_users",
  "iam_password_reset_links",
  "iam_service_account_keys",
  "iam_service_accounts",
  "iam_groups",
  "iam_former_ids",
  "iam_owner_claims",
] as const;

/** The accounts and the groups of an initial state, in place of what is there. */
async function fill(provider: WorldDatabase, { groups, disabled }: InitialState): Promise<void> {
  const database = provider.as<IamTables>();
  for (const table of CHANGED) await database.kysely.deleteFrom(table).execute();
  await removalsIn(database).deleteFrom("pending_removals").execute();
  const users = new LocalAccounts(database.kysely as never, ORGANIZATION);
  const accounts = new ServiceAccounts(provider.as<ServiceAccountTables>());
  const changes = new AccountChanges(ORGANIZATION);
  for (const { type, id } of ACCOUNTS) {
    if (type === "user") {
      const user = { username: id, displayName: id, email: "", passwordHash: "none" };
      await users.create(user, id);
      if (disabled.has(id)) await changes.setDisabled(database.kysely as never, id, true);
    } else {
      const { kysely } = provider.as<ServiceAccountTables>();
      await accounts.create(kysely, { displayName: id, audience: [] }, id);
      const key = { id: keyOf(id), credential: { secretHash: id }, expireTime: undefined };
      await addKey(kysely, id, key, accounts.time());
    }
  }
  const records = new GroupRecords(database, { add: async () => undefined });
  for (const { id, zone } of groups) {
    if (zone === undefined) continue;
    await records.begin(id, zone, id);
    await records.advance(id, ["creating"], "ready");
  }
}

/** The parts that change what accounts hold, over a database that begins with a state. */
export async function openWorldParts(
  provider: WorldDatabase,
  engine: AuthorizationEngine,
  state: InitialState,
) {
  const clock = { ahead: 0 };
  const database = provider.as<IamTables>();
  const removals = await openIamRemovals({ database, engine, now: () => Date.now() + clock.ahead });
  await fill(provider, state);
  const organization = ORGANIZATION;
  const users = new LocalAccounts(database.kysely as never, organization);
  const serviceAccounts = new ServiceAccounts(provider.as<ServiceAccountTables>());
  const enabled = async (ids: readonly string[]) => {
    const found = ids.length === 0 ? new Map() : await users.findAll(ids);
    return new Set(ids.filter((id) => found.get(id)?.disabled === false));
  };
  const rules = new RelationshipRules(engine);
  const claims = new OwnerClaims(provider.as<OwnerClaimTables>(), NO_LOG);
  const lastOwner = new LastOwner({ engine, claims, enabled });
  const records = new GroupRecords(database, removals);
  removals.register({
    name: "group",
    objectType: "group",
    deleteRecord: (transaction, id) => records.delete(transaction, id),
  });
  removals.register(userRemoval);
  removals.register(serviceAccountRemoval);
  const tree = new GroupTree(engine);
  const places = new PlaceRights(engine, records);
  const rights = new AccountRights(engine, organization);
  const documents = new ProviderDatabase(provider);
  const revocations = new Revocations(documents);
  const stored = new Sessions(documents, revocations);
  const sessions = {
    list: async () => [],
    endAll: async () => 0,
    endWith: (id, change, _, except) => stored.endWith(id, change, except),
  } satisfies Partial<UserSessions> as Partial<UserSessions> as UserSessions;
  const links = new ResetLinks(database.as<PasswordTables>());
  const resetRights = new ResetRights({ accounts: users, rights });
  const passwords = new PasswordChanges({
    accounts: users,
    logins: undefined as never,
    hasher: new PasswordHasher(CHEAP),
    sessions,
    links,
    rights: resetRights,
  });
  const writes = new AccountWrites({
    database,
    users: new AccountChanges(organization),
    revocations,
    rights,
    organization,
  });
  return {
    clock,
    removals,
    users,
    serviceAccounts,
    records,
    rules,
    lastOwner,
    links,
    passwords,
    creation: new GroupCreation({ engine, records, tree, rights: places }),
    moves: new GroupMoves({
      engine,
      tree,
      places,
      rights: new MoveRights(engine, rules),
      lastOwner,
    }),
    deletion: new GroupDeletion({ engine, records, tree, places, rules, lastOwner }),
    members: new GroupMembers({ engine, rules, lastOwner, pageTokens: PAGE_TOKENS }),
    userChanges: new UserChanges({
      database,
      accounts: users,
      changes: new AccountChanges(organization),
      sessions,
      links,
      removals,
      rights,
      owners: lastOwner,
      organization,
    }),
    passwordHandlers: passwordHandlers({
      accounts: users,
      changes: passwords,
      links,
      sessions,
      rights: resetRights,
      organization,
      publicUrl: "https://iam.example",
    }),
    sessionHandlers: sessionHandlers({ sessions, accounts: users, rights, organization }),
    factorHandlers: secondFactorHandlers({
      store: { removeAll: async () => 0 },
      accounts: users,
      rights,
      organization,
    }),
    accountChanges: new ServiceAccountChanges({ accounts: serviceAccounts, writes, removals }),
    keyChanges: new ServiceAccountKeyChanges({ accounts: serviceAccounts, writes }),
  };
}

/** The parts of one sequence. */
export type WorldParts = Awaited<ReturnType<typeof openWorldParts>>;
