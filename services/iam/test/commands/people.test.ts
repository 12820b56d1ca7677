/** `svc-iam user`, `group`, `service-account` and `session`, as processes of the owner of a zone. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { databaseOf } from "../support/browser-login.ts";
import { CommandLine, startOwned } from "../support/command-line.ts";
import { addFactor } from "../support/factors.ts";
import type { IamService } from "../support/iam-service.ts";

const PASSWORD = "seven green parrots sing";

let iam: IamService;
let line: CommandLine;
beforeAll(async () => {
  iam = await startOwned();
  line = new CommandLine();
  await line.logIn(iam);
  writeFileSync(join(line.folder, "password"), `${PASSWORD}\n`);
  writeFileSync(join(line.folder, "empty"), "");
});
afterAll(() => iam.stop());

const WRONG: readonly [string, readonly string[], RegExp][] = [
  [
    "a user that nobody is",
    ["user", "get", "carol"],
    /no user has the id or user name or e-mail address "carol": svc-iam user list shows/,
  ],
  [
    "a user without an e-mail address",
    ["user", "create", "carol"],
    /required option '--email <address>' not specified/,
  ],
  [
    "the factors of a user that nobody is",
    ["user", "remove-factors", "carol"],
    /no user has the id or user name or e-mail address "carol"/,
  ],
  [
    "a password file that does not exist",
    ["user", "create", "carol", "--email", "c@example.com", "--password-file", "none"],
    /--password-file none cannot be read: it does not exist; name another file/,
  ],
  [
    "a password file that is a folder",
    ["user", "create", "carol", "--email", "c@example.com", "--password-file", "."],
    /--password-file \. cannot be read: it is a folder; name a file/,
  ],
  [
    "the own sessions of an operator",
    ["session", "list", "--offline", "service.yaml"],
    /an operator has no sessions: name whose with --user <user>/,
  ],
  [
    "the end of the own sessions of an operator",
    ["session", "end", "--others", "--offline", "service.yaml"],
    /an operator has no sessions: name whose with --user <user>/,
  ],
  [
    "a password file that is empty",
    ["user", "create", "carol", "--email", "c@example.com", "--password-file", "empty"],
    /--password-file empty is empty: name another file/,
  ],
  [
    "a user name that is not one",
    ["user", "create", "a b", "--email", "c@example.com"],
    /username .*\(INVALID_ARGUMENT\)/,
  ],
  [
    "a change of nothing",
    ["user", "update", "root"],
    /there is nothing to change: name --username, --display-name/,
  ],
  [
    "a list of a group that nobody has made",
    ["user", "list", "--group", "Nobody"],
    /no group has the id or name "Nobody"/,
  ],
  [
    "the last owner",
    ["user", "disable", "root"],
    /the zone acme \(FAILED_PRECONDITION\): make another user an owner first: svc-iam relationship/,
  ],
  ...[
    ["user", "delete", "root"],
    ["group", "delete", "x"],
    ["service-account", "delete", "x"],
  ].map((args): [string, readonly string[], RegExp] => [
    `${args[0]} delete without a terminal and without --yes`,
    args,
    /^svc-iam: this cannot be undone, and there is no terminal to ask: add --yes\n$/,
  ]),
  ["a group without a name", ["group", "create"], /missing required argument 'name'/],
  [
    "a move to two places",
    ["group", "move", "x", "--top", "--parent", "y"],
    /name one place: --parent <group>, or --top/,
  ],
  [
    "an update of nothing",
    ["group", "update", "x"],
    /there is nothing to change: name --display-name/,
  ],
  ["a move to no place", ["group", "move", "x"], /name one place/],
  [
    "a member that is not a subject",
    ["group", "add-member", "x", "alice"],
    /"alice" is not a valid subject/,
  ],
  [
    "a group of another id",
    ["group", "get", "5f0c2d1e-0000-4000-8000-000000000000"],
    /\(FORBIDDEN\)/,
  ],
  [
    "an audience that is not a URI",
    ["service-account", "create", "R", "--audience", "notes"],
    /audience.*\(INVALID_ARGUMENT\)/,
  ],
  [
    "a service account that nobody made",
    ["service-account", "get", "R"],
    /no service account has the id or name "R": svc-iam service-account list/,
  ],
  [
    "an expiry that is not a time",
    ["service-account", "key", "create", "R", "--expires", "soon"],
    /--expires "soon" is not a valid time/,
  ],
  [
    "a public key that does not exist",
    ["service-account", "key", "create", "R", "--public-key", "none"],
    /--public-key none cannot be read/,
  ],
  ["the end of no session", ["session", "end"], /name the id of one session, --others or --all/],
  ["the end of all of nobody", ["session", "end", "--all"], /--all needs --user/],
  [
    "the end of others of a user",
    ["session", "end", "--others", "--user", "root"],
    /--others is for your own sessions/,
  ],
  [
    "a session that is not yours",
    ["session", "end", "none"],
    /\(RESOURCE_NOT_FOUND\): svc-iam session list shows them/,
  ],
];

describe("says on one line what is wrong, with exit code 2 [CMD-3]:", () => {
  test.each(columnsOf(WRONG, 1, 6))("%s", async (_, args, message) => {
    const { status, stdout, stderr } = await line.run(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
  });
});

test("a user is created, changed, disabled and deleted, and sets a password by the link [CMD-4]", async () => {
  const made = await line.run("user", "create", "alice", "--email", "alice@example.com");
  expect(made.status).toBe(0);
  expect(made.stdout).toMatch(/^http:\/\/localhost:\d+\/v1\/iam\/ui\/password-reset\?token=\S+\n$/);
  expect(made.stderr).toMatch(
    /^svc-iam: user alice created: [0-9a-f-]{36}\nsvc-iam: the person who uses/,
  );
  expect((await fetch(made.stdout.trim(), { redirect: "manual" })).status).toBe(303);
  const link = await line.json("user", "reset-link", "ALICE@example.com");
  expect(link).toEqual({ url: expect.stringContaining("?token="), expireTime: expect.any(String) });

  const changes = ["--display-name", "Alice Archer", "--avatar-url", ""];
  const { stderr } = await line.run("user", "update", "alice", ...changes);
  expect(stderr).toBe("svc-iam: user alice changed\n");
  const alice = await line.json("user", "get", "alice");
  expect(alice).toMatchObject({
    username: "alice",
    displayName: "Alice Archer",
    disabled: false,
  });
  const shown = await line.run("user", "get", "alice");
  expect(shown.stdout).toMatch(
    /^id {12}\S+\nuser name {5}alice\ndisplay name {2}Alice Archer\ne-mail {8}alice@example\.com\norganization {2}acme\ncreated {7}\S+\nchanged {7}\S+\netag {10}\S+\n$/,
  );
  const old = await line.run("user", "update", "alice", "--username", "al", "--etag", "old");
  expect([old.status, old.stderr]).toEqual([2, expect.stringContaining("(FAILED_PRECONDITION)")]);

  expect(await line.json("user", "disable", "alice")).toMatchObject({ disabled: true });
  const table = await line.run("user", "list", "--query", "al");
  expect(table.stdout).toMatch(/^ID +USER NAME +E-MAIL +STATE +NAME\n/);
  expect(table.stdout).toContain("alice      alice@example.com  disabled  Alice Archer\n");
  expect((await line.run("user", "enable", alice.id)).stderr).toBe("svc-iam: user alice enabled\n");
  const deleted = await line.run("user", "delete", "alice", "--yes");
  expect(deleted.stderr).toBe("svc-iam: user alice deleted\n");
  expect(await line.run("user", "list", "--query", "al")).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: no users\n",
  });
});

test("an owner removes the second factors of a user, and nobody else does [CMD-4] [FACTOR-7]", async () => {
  const dora = await line.json(
    ...["user", "create", "dora", "--email", "d@example.com", "--password-file", "password"],
  );
  await addFactor(iam, dora.id);
  const doras = new CommandLine();
  await addFactor(iam, dora.id);
  const { kysely } = databaseOf(iam);
  const count = async () =>
    (await kysely.selectFrom("iam_second_factors").selectAll().execute()).length;
  expect(await count()).toBe(2);
  const stranger = await doras.run("user", "remove-factors", dora.id);
  expect([stranger.status, stranger.stderr]).toEqual([2, expect.stringContaining("svc-iam login")]);
  expect(await line.run("user", "remove-factors", "dora")).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: 2 second factors of user dora removed, with the recovery codes\n",
  });
  expect(await count()).toBe(0);
  await doras.logIn(iam, { username: "dora", password: PASSWORD });
  const refused = await doras.run("user", "remove-factors", dora.id);
  expect([refused.status, refused.stderr]).toEqual([
    2,
    "svc-iam: permission denied: this needs manage_users on zone:acme (FORBIDDEN): log in as somebody who may do this (svc-iam login), or ask an owner for the right\n",
  ]);
  expect(await line.run("user", "remove-factors", "dora")).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: user dora has no second factor\n",
  });
  expect(await line.json("user", "remove-factors", "dora")).toEqual({ removedCount: 0 });
  await line.json("user", "delete", "dora", "--yes");
});

test("a list says if its limit leaves something out, and may be a page or several [CMD-4]", async () => {
  const flags = ["--email", "bob@example.com", "--password-file"];
  const bob = await line.json("user", "create", "bob", ...flags, "password");
  const carol = await line.runWith(
    PASSWORD,
    "user",
    "create",
    "carol",
    "--email",
    "c@example.com",
    "--password-file",
    "-",
  );
  expect([carol.status, carol.stdout]).toEqual([0, ""]);
  const one = await line.run("user", "list", "--limit", "1", "--format", "json");
  expect(JSON.parse(one.stdout)).toMatchObject([{ id: bob.id, username: "bob" }]);
  expect(one.stderr).toBe("svc-iam: the first 1 user; --limit shows more\n");
});

test("groups are made, moved, named by their names, and have members [CMD-4]", async () => {
  const engineers = await line.json("group", "create", "Engineers");
  const testers = await line.json("group", "create", "Testers", "--parent", "Engineers");
  expect(testers.parentId).toBe(engineers.id);
  expect(await line.json("group", "list", "--parent", "Engineers")).toMatchObject([
    { id: testers.id },
  ]);
  expect(await line.json("group", "move", "Testers", "--top")).toMatchObject({ parentId: "" });
  // The former name of the flag still works.
  await line.json("group", "update", "Testers", "--name", "QA");
  await line.json("group", "update", "QA", "--display-name", "Test engineers");
  expect(await line.json("group", "get", "test engineers")).toMatchObject({ id: testers.id });

  const added = await line.run("group", "add-member", "Engineers", "user:bob");
  expect(added).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: user:bob added to the group Engineers\n",
  });
  const twice = await line.run("group", "add-member", "Engineers", "user:bob");
  expect([twice.status, twice.stderr]).toEqual([
    0,
    "svc-iam: user:bob is already a member of the group Engineers\n",
  ]);
  await line.json("group", "add-member", "Engineers", "group:Test engineers");
  const members = await line.run("group", "members", "Engineers");
  expect(members.stdout).toContain(`group#member  ${testers.id}  Test engineers\n`);
  expect(await line.json("user", "list", "--group", "Engineers")).toHaveLength(1);
  await line.json("group", "remove-member", "Engineers", "group:Test engineers");
  const gone = await line.run("group", "remove-member", "Engineers", "group:Test engineers");
  expect([gone.status, gone.stderr]).toEqual([
    0,
    "svc-iam: group:Test engineers was not a member of the group Engineers\n",
  ]);
  expect(await line.json("group", "members", "Engineers")).toHaveLength(1);

  const named = await line.run("group", "create", "engineers", "--format", "json");
  const again = JSON.parse(named.stdout);
  expect(named.stderr).toBe(
    `svc-iam: warning: another group has the name engineers: ${engineers.id}; name them by their ids, or change one\n`,
  );
  await line.json("group", "update", again.id, "--display-name", "Operators");
  const renamed = await line.run("group", "update", again.id, "--display-name", "Engineers");
  expect([renamed.status, renamed.stderr.split("\n")]).toEqual([
    0,
    [
      "svc-iam: group Engineers changed",
      expect.stringMatching(/^svc-iam: warning: another group has the name Engineers: /),
      "",
    ],
  ]);
  const unclear = await line.run("group", "get", "Engineers");
  expect(unclear.stderr).toMatch(
    /^svc-iam: 2 groups have the name "Engineers": name one by its id, such as /,
  );
  expect((await line.run("group", "delete", again.id)).status).toBe(2);
  expect((await line.run("group", "delete", again.id, "--yes")).status).toBe(0);
  expect(await line.json("group", "list")).toHaveLength(2);
});

test("a service account gets keys, and a token by the secret [CMD-4]", async () => {
  await line.json("service-account", "create", "Reporter", "--audience", "urn:acme:notes");
  const account = await line.json("service-account", "get", "reporter");
  const made = await line.run("service-account", "key", "create", "Reporter", "--expires", "90d");
  expect(made.stdout).toMatch(/^svcsa_\S+\n$/);
  const token = await fetch(`${iam.origin}/v1/iam/oidc/token`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${account.id}:${made.stdout.trim()}`).toString("base64")}`,
    },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  expect(token.status).toBe(200);

  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
  writeFileSync(join(line.folder, "key.pem"), pem);
  const { key } = await line.json(
    "service-account",
    "key",
    "create",
    "Reporter",
    "--public-key",
    "key.pem",
  );
  const keys = await line.run("service-account", "key", "list", "Reporter");
  expect(keys.stdout).toContain(`${key.id}  public key  `);
  await line.json("service-account", "key", "delete", "Reporter", key.id);
  const gone = await line.run("service-account", "key", "delete", "Reporter", key.id);
  expect([gone.status, gone.stderr]).toEqual([
    2,
    expect.stringMatching(/: svc-iam service-account key list Reporter shows them\n$/),
  ]);
  expect(await line.json("service-account", "key", "list", "Reporter")).toHaveLength(1);

  await line.json("service-account", "update", "Reporter", "--display-name", "Reporters");
  // The former name of the flag still works.
  await line.json("service-account", "update", "Reporters", "--name", "Reports");
  expect(await line.json("service-account", "disable", "Reports")).toMatchObject({
    disabled: true,
  });
  await line.json("service-account", "enable", "Reports");
  const twin = await line.run("service-account", "create", "Reports");
  expect(twin.stderr).toMatch(
    /^svc-iam: service account Reports created: \S+\nsvc-iam: warning: another service account has the name Reports: \S+; [^\n]+\n$/,
  );
  for (const { id } of await line.json("service-account", "list")) {
    await line.json("service-account", "delete", id, "--yes");
  }
  expect(await line.json("service-account", "list")).toEqual([]);
});

test("sessions are listed and ended, one's own and those of others [CMD-4]", async () => {
  const bob = new CommandLine();
  await bob.logIn(iam, { username: "bob", password: PASSWORD });
  const [own] = await bob.json("session", "list");
  expect(own).toMatchObject({ kind: "SESSION_KIND_DEVICE", current: true });
  const { stdout } = await bob.run("session", "list");
  expect(stdout).toMatch(/^ID +KIND +LAST USE +END +ADDRESS +CLIENTS\n/);
  expect(stdout).toMatch(/ device \(this one\) .* Command line\n/);
  // Unused, it ends before it would in any case.
  expect(own.idleExpireTime < own.absoluteExpireTime).toBe(true);
  expect(stdout).toContain(` ${new Date(own.idleExpireTime).toISOString()} `);
  expect((await line.run("session", "list", "--user", "bob")).stdout).toContain(own.id);
  const ended = await line.run("session", "end", own.id, "--user", "bob");
  expect([ended.status, ended.stderr]).toEqual([0, "svc-iam: 1 session ended\n"]);
  const late = await bob.run("session", "list");
  expect([late.status, late.stderr]).toEqual([2, expect.stringContaining("run svc-iam login")]);
  expect(await line.json("session", "end", "--user", "bob", "--all")).toEqual({
    ended: expect.any(Number),
  });
  expect(await line.json("session", "end", "--others")).toEqual({ ended: expect.any(Number) });
  expect(await line.json("session", "list")).toHaveLength(1);
});
