/** `svc-iam check`, `who-can` and `relationship`, as processes of the owner of a zone. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { CommandLine, startOwned } from "../support/command-line.ts";
import { asUser, type IamService } from "../support/iam-service.ts";

let iam: IamService;
let line: CommandLine;
const ids: Record<string, string> = {};
beforeAll(async () => {
  iam = await startOwned();
  line = new CommandLine();
  await line.logIn(iam);
  const { body } = await iam.call("GET", "/v1/users", undefined, asUser(await ownerId()));
  ids["root"] = body.users[0].id;
  for (const username of ["alice", "bob"]) {
    const user = { username, displayName: username, email: `${username}@example.com` };
    const created = await iam.call(
      "POST",
      "/v1/users",
      { ...user, password: "seven green parrots sing" },
      asUser(ids["root"] ?? ""),
    );
    ids[username] = created.body.id;
  }
});
afterAll(() => iam.stop());

async function ownerId(): Promise<string> {
  const filter = { resourceType: "zone", resourceId: "acme", relation: "owner" };
  const page = await iam.options.engine?.readRelationships(filter);
  return page?.items[0]?.subject.id ?? "";
}

/** The id of no group. */
const NOBODY = "5f0c2d1e-0000-4000-8000-000000000000";

const WRONG: readonly [string, readonly string[], RegExp][] = [
  [
    "check without a resource",
    ["check", "user:alice", "owner"],
    /missing required argument 'resource'/,
  ],
  [
    "a subject without a type",
    ["check", "alice", "owner", "zone:acme"],
    /"alice" is not a valid subject: write type:id/,
  ],
  [
    "a permission that is not a name",
    ["check", "me", "Own er", "zone:acme"],
    /"Own er" is not a valid name/,
  ],
  ["a permission that the type lacks", ["check", "me", "fly", "zone:acme"], /fly/],
  [
    "a resource without an id",
    ["check", "me", "owner", "zone"],
    /"zone" is not a valid resource: write type:id/,
  ],
  [
    "a user that nobody is",
    ["check", "user:carol", "owner", "zone:acme"],
    /no user has the id or user name or e-mail address "carol"/,
  ],
  [
    "an unknown format",
    ["check", "me", "owner", "zone:acme", "--format", "xml"],
    /'xml' is invalid/,
  ],
  [
    "who-can with a limit of 0",
    ["who-can", "owner", "zone:acme", "--limit", "0"],
    /Write a whole number from 1 to/,
  ],
  ["who-can with an unknown type", ["who-can", "owner", "planet:x"], /planet/],
  [
    "who-can with a type of subjects that the model lacks",
    ["who-can", "owner", "zone:acme", "--type", "foo"],
    /the model has no type "foo"/,
  ],
  [
    "who-can with a set as type",
    ["who-can", "owner", "zone:acme", "--type", "group#member"],
    /--type "group#member" is not a valid type: write a type of the model, such as user/,
  ],
  ...(
    [
      [["check", "me", "owner", "zne:acme"], 'the model has no type "zne"; did you mean "zone"?'],
      [
        ["check", "usr:alice", "owner", "zone:acme"],
        'the model has no type "usr"; did you mean "user"?',
      ],
      [
        ["check", "user:alice", "manage_user", "zone:acme"],
        'the type zone has no relation or permission "manage_user"; did you mean "manage_users"?',
      ],
      [
        ["who-can", "ownr", "zone:acme"],
        'the type zone has no relation or permission "ownr"; did you mean "owner"?',
      ],
      [
        ["who-can", "owner", "zone:acme", "--type", "usr"],
        'the model has no type "usr"; did you mean "user"?',
      ],
      [
        ["relationship", "write", "zone:acme#owner@usr:alice"],
        'the model has no type "usr"; did you mean "user"?',
      ],
      [["relationship", "list", "--resource", "gruop"], 'no type "gruop"; did you mean "group"?'],
      ...[
        ["write", "zone:acme#ownr@user:alice"],
        ["delete", "zone:acme#ownr@user:alice"],
        ["list", "--resource", "zone", "--relation", "ownr"],
      ].map(
        (args) =>
          [
            ["relationship", ...args],
            'the type zone has no relation "ownr"; it has owner, ',
            'did you mean "owner"?',
          ] as const,
      ),
    ] as const
  ).map(([args, ...texts]): [string, readonly string[], RegExp] => [
    `a misspelt name: ${args.join(" ")}`,
    args,
    new RegExp(
      `${texts.map((text) => text.replace(/[?()]/g, "\\$&")).join(".*")} \\(INVALID_ARGUMENT\\)\n$`,
    ),
  ]),
  [
    "a type that is like no other",
    ["check", "me", "owner", "skyscraper:x"],
    /the model has no type "skyscraper"; its types are [a-z_]+, [^;]* \(INVALID_ARGUMENT\)\n$/,
  ],
  [
    "a permission that is like no other",
    ["check", "me", "fly", "zone:acme"],
    /has no relation or permission "fly"; it has [a-z_]+, [^;]* \(INVALID_ARGUMENT\)\n$/,
  ],
  ["a group without a command", ["relationship"], /^Usage: svc-iam relationship/],
  ["an unknown command of a group", ["relationship", "touch"], /unknown command 'touch'/],
  [
    "a relation without a resource",
    ["relationship", "list", "--relation", "owner"],
    /required option '--resource <type\[:id\]>' not specified/,
  ],
  [
    "a relationship that is not one",
    ["relationship", "write", "zone:acme"],
    /"zone:acme" is not a valid relationship: write type:id#relation@type:id/,
  ],
  ["a deletion of nothing", ["relationship", "delete"], /missing required argument 'relationship'/],
  [
    "a relation that the model lacks",
    ["relationship", "write", "zone:acme#pilot@user:alice"],
    /pilot.*\(INVALID_ARGUMENT\)/,
  ],
  [
    "the place of a group",
    ["relationship", "write", `group:${NOBODY}#parent@group:${NOBODY}`],
    /\(FORBIDDEN\): use svc-iam group create --parent or svc-iam group move\n$/,
  ],
  [
    "an export of an object",
    ["relationship", "export", "--resource", "zone:acme"],
    /--resource "zone:acme" is an object: name types, such as zone/,
  ],
  ["an import of no file", ["relationship", "import", "none.txt"], /none\.txt cannot be read/],
];

describe("says what is wrong, with exit code 2 [CMD-3]:", () => {
  test.each(columnsOf(WRONG, 0, 5))("%s", async (_, args, message) => {
    const { status, stdout, stderr } = await line.run(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    if (!stderr.startsWith("Usage")) expect(stderr).toMatch(/^svc-iam: [^\n]+\n$/);
  });
});

test("a relationship is written by names, decides, is explained and deleted [CMD-2]", async () => {
  const text = "zone:acme#user_manager@user:alice";
  expect(await line.run("check", "user:alice", "manage_users", "zone:acme")).toEqual({
    status: 1,
    stdout: "not allowed\n",
    stderr: "",
  });
  expect(await line.run("relationship", "write", text)).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: 1 relationship written\n",
  });
  const again = await line.run("relationship", "write", text, "--create");
  expect([again.status, again.stderr]).toEqual([
    2,
    expect.stringMatching(
      /exist.* \(ALREADY_EXISTS\): leave out --create to keep those that exist\n$/,
    ),
  ]);

  const stored = `zone:acme#user_manager@user:${ids["alice"]}`;
  const explained = await line.run(
    "check",
    "user:alice@example.com",
    "manage_users",
    "zone:acme",
    "--explain",
  );
  expect(explained.status).toBe(0);
  expect(explained.stdout).toMatch(/^allowed\nyes zone:acme#manage_users: union\n/);
  expect(explained.stdout).toContain(`  yes zone:acme#user_manager: ${stored}\n`);

  const who = await line.run("who-can", "manage_users", "zone:acme");
  expect([who.status, who.stderr]).toEqual([0, ""]);
  expect(who.stdout).toContain(`user:${ids["alice"]}  alice  ${stored}\n`);
  expect(who.stdout).toContain(`user:${ids["root"]}`);
  expect(await line.json("who-can", "manage_users", "zone:acme", "--type", "user")).toHaveLength(2);

  const listed = await line.run(
    "relationship",
    "list",
    "--resource",
    "zone:acme",
    "--relation",
    "user_manager",
  );
  expect(listed.stdout).toBe(
    [
      "RESOURCE   RELATION      SUBJECT                                    NAME",
      `zone:acme  user_manager  user:${ids["alice"]}  alice`,
      "",
    ].join("\n"),
  );
  expect(await line.json("relationship", "delete", text)).toMatchObject({ count: 1 });
  expect(await line.run("relationship", "delete", text)).toEqual({
    status: 0,
    stdout: "",
    stderr: "svc-iam: 0 relationships deleted: it did not exist\n",
  });
  const told = await line.run("check", "user:alice", "manage_users", "zone:acme", "--explain");
  expect(told.status).toBe(1);
  expect(told.stdout).toMatch(
    /^not allowed\nnot held: zone:acme#[a-z_]+, .*zone:acme#user_manager.*\nno {2}zone:acme#manage_users: union\n/,
  );
  const denied = await line.run(
    ...["check", "user:alice", "manage_users", "zone:acme", "--explain", "--format", "json"],
  );
  expect([denied.status, JSON.parse(denied.stdout)]).toMatchObject([1, { allowed: false }]);
  expect((await line.run("check", "user:alice", "manage_users", "zone:acme")).status).toBe(1);
});

test("what is exported can be imported, and a line that is wrong is named [CMD-2]", async () => {
  const exported = await line.run("relationship", "export", "--resource", "zone");
  expect(exported).toMatchObject({ status: 0, stdout: `zone:acme#owner@user:${ids["root"]}\n` });
  const file = join(line.folder, "relationships.txt");
  const lines = [
    "// who sees users",
    "",
    "# and who owns",
    "zone:acme#user_viewer@user:bob",
    exported.stdout,
  ];
  writeFileSync(file, lines.join("\n"));
  expect(await line.json("relationship", "import", file)).toEqual({ count: 2 });
  expect((await line.run("check", "user:bob", "view_users", "zone:acme")).status).toBe(0);

  const wrong = await line.runWith(
    "zone:acme#admin@user:bob\nzone\n",
    "relationship",
    "import",
    "-",
  );
  expect([wrong.status, wrong.stderr]).toEqual([
    2,
    expect.stringMatching(/^svc-iam: -:2: "zone" is not a valid relationship/),
  ]);
  expect((await line.run("check", "user:bob", "admin", "zone:acme")).status).toBe(1);
});

test("an export in JSON can be imported, and the line that the server refuses is named [CMD-2]", async () => {
  const exported = await line.run(
    "relationship",
    "export",
    "--resource",
    "zone",
    "--format",
    "json",
  );
  const input = `${exported.stdout}zone:acme#user_viewer@user:alice\nzone:acme#pilot@user:bob\nzone:acme#admin@user:bob\n`;
  const lines = input.split("\n").length - 1;
  const refused = await line.runWith(input, "relationship", "import", "-");
  expect([refused.status, refused.stderr.split("\n")]).toEqual([
    2,
    [
      expect.stringMatching(
        new RegExp(
          `^svc-iam: -:${lines - 1}: .*pilot.*\\(INVALID_ARGUMENT\\); the first ${lines - 2} of ${lines} are written$`,
        ),
      ),
      "",
    ],
  ]);
  expect((await line.run("check", "user:alice", "view_users", "zone:acme")).status).toBe(0);
  expect((await line.run("check", "user:bob", "admin", "zone:acme")).status).toBe(1);
  await line.json("relationship", "delete", "zone:acme#user_viewer@user:alice");
});

test("an id in a line of JSON is one, also if somebody has it as a user name [CMD-2]", async () => {
  const toLine = (id: string) =>
    JSON.stringify({
      resource: { type: "zone", id: "acme" },
      relation: "user_viewer",
      subject: { type: "user", id },
    });
  const input = `${toLine("alice")}\n${toLine("of-no-user")}\n`;
  const imported = await line.runWith(input, "relationship", "import", "-");
  expect([imported.status, imported.stderr]).toEqual([0, "svc-iam: 2 relationships written\n"]);
  const filter = { resourceType: "zone", resourceId: "acme", relation: "user_viewer" };
  const page = await iam.options.engine?.readRelationships(filter);
  const subjects = page?.items.map(({ subject }) => subject.id);
  expect(subjects).toEqual(expect.arrayContaining(["alice", "of-no-user"]));
  expect(subjects).not.toContain(ids["alice"]);
  const stored = ["alice", "of-no-user"].map((id) => ({
    operation: "DELETE" as const,
    relationship: {
      resource: { type: "zone", id: "acme" },
      relation: "user_viewer",
      subject: { type: "user", id },
    },
  }));
  await iam.options.engine?.writeRelationships({ updates: stored });
});

test("the help of import filters an export, as text and as JSON, to what can be imported [CMD-2]", async () => {
  const above = await line.json("group", "create", "Above");
  const below = await line.json("group", "create", "Below", "--parent", "Above");
  await line.json("group", "add-member", "Below", "user:bob");
  const types = ["relationship", "export", "--resource", "zone", "group"];
  const exported = await line.run(...types);
  expect(exported.stdout).toContain(`group:${below.id}#parent@group:${above.id}\n`);
  const { stdout: help } = await line.run("relationship", "import", "--help");
  const filters = help.split("\n").filter((text) => /^ +(grep|jq) /.test(text));
  expect(filters.map((text) => text.trim().split(" ")[0])).toEqual(["grep", "jq"]);
  writeFileSync(join(line.folder, "relationships.txt"), exported.stdout);
  const json = await line.run(...types, "--format", "json");
  writeFileSync(join(line.folder, "relationships.ndjson"), json.stdout);
  const kept = exported.stdout
    .trim()
    .split("\n")
    .filter((text) => !/#(zone|parent)@/.test(text));
  expect(kept).toContain(`group:${below.id}#member@user:${ids["bob"]}`);
  for (const filter of filters) {
    const filtered = execFileSync("sh", ["-c", filter], { cwd: line.folder, encoding: "utf8" });
    const { status, stderr } = await line.runWith(filtered, "relationship", "import", "-");
    expect([status, stderr]).toEqual([0, `svc-iam: ${kept.length} relationships written\n`]);
  }
});

test("an import of binary data is refused on one line [CMD-3]", async () => {
  const file = join(line.folder, "binary");
  writeFileSync(file, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 0xff, 0xfe]));
  const { status, stderr } = await line.run("relationship", "import", file);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(
      /^svc-iam: \S+binary:1 is not a line of text with a relationship: [^\n]+\n$/,
    ),
  ]);
});

test.each([
  ["relationship", "export", "--resource", "zone"],
  ["relationship", "list", "--resource", "zone:acme"],
  ["check", "user:alice", "owner", "zone:acme"],
  ["who-can", "owner", "zone:acme"],
])(
  "%s %s shows the newest state, which another replica may have written [CMD-2]",
  async (...args) => {
    const engine = iam.options.engine;
    if (engine === undefined) throw new Error("the service has no engine");
    const { readRelationships, check } = engine;
    const options: unknown[] = [];
    engine.readRelationships = (filter, page, given) => {
      options.push(given);
      return readRelationships.call(engine, filter, page, given);
    };
    engine.check = (request, given) => {
      if (request.subject.id === ids["alice"]) options.push(given);
      return check.call(engine, request, given);
    };
    try {
      expect((await line.run(...args)).stderr).not.toContain("svc-iam: the");
    } finally {
      Object.assign(engine, { readRelationships, check });
    }
    expect(options.filter((one) => (one as { newest?: boolean })?.newest === true)).not.toEqual([]);
  },
);

test("several types are exported, as text or as JSON on lines [CMD-2]", async () => {
  const flags = ["--resource", "zone", "group", "--format", "json"];
  const { status, stdout } = await line.run("relationship", "export", ...flags);
  expect(status).toBe(0);
  expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ resource: { type: "zone" } });
  const unknown = await line.run("relationship", "export", "--resource", "planet");
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining("planet")]);
});

test("the server decides what a person may do [CMD-2]", async () => {
  const bob = new CommandLine();
  await bob.logIn(iam, { username: "bob", password: "seven green parrots sing" });
  const own = await bob.run("check", "me", "owner", "zone:acme");
  expect([own.status, own.stdout]).toEqual([1, "not allowed\n"]);
  const refused = await bob.run("relationship", "write", `zone:acme#owner@user:${ids["bob"]}`);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("(FORBIDDEN)")]);
  // Who sees relationships, but no users, gets the list without names.
  await line.run("relationship", "delete", "zone:acme#user_viewer@user:bob");
  await line.json("relationship", "write", "zone:acme#permission_admin@user:bob");
  const listed = await bob.run("relationship", "list", "--resource", "zone:acme");
  expect(listed.status).toBe(0);
  expect(listed.stdout).toContain(`zone:acme  owner             user:${ids["root"]}  -\n`);
});
