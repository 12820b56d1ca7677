import { changed, type Mutant, without } from "./mutant.ts";

const RIGHTS = "api/users/account-rights.ts";
const USERS = "api/users/user-changes.ts";
const SERVICE_ACCOUNTS = "api/service-accounts/service-account-changes.ts";
const KEYS = "api/service-accounts/service-account-key-changes.ts";
const RESET = "api/password/reset-rights.ts";
const OWNER = "rights/last-owner.ts";
const FOUND = 'const zones = await reads.objectsOf("zone", relation, account, MOST);';

/** The rules of accounts, and of the last owner. */
export const ACCOUNT_MUTANTS: readonly Mutant[] = [
  changed("a link is used while its maker holds manage_users", RIGHTS, [
    "if (!manages) throw",
    "if (false) throw",
  ]),
  changed("an account is covered by whoever holds its relations of zones", RIGHTS, [
    "if (held.every(",
    "if (true || held.every(",
  ]),
  changed("relations of zones that an account holds by groups count", RIGHTS, [
    FOUND,
    `const direct = { resourceType: "zone", relation, subject: { ...account, relation: "" } };
      const zones = (await reads.relationships(direct, MOST)).map(({ resource }) => resource);`,
  ]),
  changed("relations of every zone count", RIGHTS, [
    FOUND,
    FOUND.replace("await", "(await").replace(";", ').filter(({ id }) => id === "acme");'),
  ]),
  changed("the relation permission_admin of an account counts", RIGHTS, [
    '"permission_admin",\n] as const',
    "] as const",
  ]),
  without(
    "a link for a new password needs to cover the account",
    RESET,
    'await rights.assertCovers(maker, { type: "user", id: accountId }, signal);',
  ),
  changed(
    "a link for a new password is decided again when it is used",
    "api/password/password-changes.ts",
    ["if (!(await rights.mayReset(maker, accountId, call.signal))) {", "if (false) {"],
  ),
  changed("a link of a disabled user does not work", RESET, [
    "if (account === undefined || account.disabled) {",
    "if (account === undefined) {",
  ]),
  changed("a change of the e-mail address needs to cover the account", USERS, [
    "if (username !== account.username || email !== account.email) {",
    "if (false) {",
  ]),
  without(
    "disabling and deletion of a user need to cover the account",
    USERS,
    "await this.#assertCovers({ id }, call);",
  ),
  changed("enabling a user needs to cover the account", USERS, [
    "await this.#assertCovers(account, call);\n    const enabled",
    "const enabled",
  ]),
  without(
    "the end of sessions needs to cover the account",
    "api/sessions/session-handlers.ts",
    "await assertCovers(accountId, context);",
  ),
  without(
    "second factors are removed by an owner of the zone",
    "api/second-factors/second-factor-handlers.ts",
    "await options.rights.assertOwner(requirePrincipal(context), context.signal);",
  ),
  without(
    "disabling, enabling and deletion of a service account need to cover it",
    SERVICE_ACCOUNTS,
    "await writes.assertCovers(id, call);",
  ),
  without(
    "the audience of a service account needs to cover it",
    SERVICE_ACCOUNTS,
    "if (change.audience !== undefined) await writes.assertCovers(id, call);\n    else ",
  ),
  without(
    "a key needs to cover its service account",
    KEYS,
    "await this.#options.writes.assertCovers(accountId, call);",
  ),
  without(
    "the deletion of a key needs to cover its service account",
    KEYS,
    "await writes.assertCovers(id, call);",
  ),
  changed(
    "a write keeps the last owner",
    OWNER,
    ["return this.guard({ deletions, writes, held, granted }, signal,", "return unguarded("],
    [
      "/** Whether a relationship gives power",
      "const unguarded = (work) => work([], (run) => run());\n/**",
    ],
  ),
  changed(
    "the last owner is an enabled user",
    "rights/owner-paths.ts",
    [
      "const last = users.find(({ subject }) => counting.has(subject.id));",
      "const last = users[0];",
    ],
    ["return (await this.#enabled([userId])).has(userId);", "return true;"],
  ),
  changed("disabling and deletion of a user keep the last owner", USERS, [
    "owners.guard(change, call.signal, async (_, effect) => {",
    "((work) => work([], (run) => run()))(async (_, effect) => {",
  ]),
  changed("the deletion of a group keeps the last owner", "api/groups/group-deletion.ts", [
    "lastOwner.guard({ leaving: [group] }, signal, async (kept, effect) => {",
    "((work) => work([], (run) => run()))(async (kept, effect) => {",
  ]),
];
