/**
 * Every command of `svc-iam` with every kind of bad input: one line with the fix, and the right exit code. Of each
 * command, one row is a process, and of each kind one; the others share a thread, since a process takes most of its
 * time to start.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { columnsOf } from "../../../../test/support/effort.ts";
import { createProgram } from "../../src/program.ts";
import { CommandLine } from "../support/command-line.ts";

interface Leaf {
  readonly name: string;
  readonly command: Command;
}

/** The commands that do something. */
function leavesOf(command: Command, above: readonly string[] = []): Leaf[] {
  if (command.commands.length === 0) return [{ name: above.join(" "), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...above, child.name()]));
}

const LEAVES = leavesOf(createProgram());
const takes = ({ command }: Leaf, flag: string) =>
  command.options.some(({ long }) => long === flag);
/** Those that take the file of a configuration, and those that call a server as somebody. */
const OF_CONFIGURATION = LEAVES.filter(({ command }) =>
  command.registeredArguments.some((argument) => argument.name() === "configuration"),
);
const OF_API = LEAVES.filter((leaf) => takes(leaf, "--offline"));

/** A value of each argument that must be there. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  subject: "user:alice",
  permission: "owner",
  resource: "zone:acme",
  relationship: "zone:acme#owner@user:alice",
  member: "user:alice",
  shell: "bash",
  file: "relationships.txt",
};
/** What commands need besides their arguments. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "user create": ["--email", "a@example.com"],
  "user update": ["--display-name", "A"],
  "user delete": ["--yes"],
  "group update": ["--display-name", "A"],
  "group move": ["--top"],
  "group delete": ["--yes"],
  "service-account update": ["--display-name", "A"],
  "service-account delete": ["--yes"],
  "session list": ["--user", "alice"],
  "session end": ["--user", "alice", "--all"],
  "relationship list": ["--resource", "zone"],
  "relationship export": ["--resource", "zone"],
};

/** A command with what it needs. */
function complete({ name, command }: Leaf): readonly string[] {
  const values = command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => ARGUMENTS[argument.name()] ?? "x");
  return [...name.split(" "), ...values, ...(NEEDED[name] ?? [])];
}

const line = new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
const put = (name: string, content: string | Uint8Array) =>
  writeFileSync(join(line.folder, name), content, { mode: 0o600 });
put("relationships.txt", "zone:acme#owner@user:alice\n");
put("empty", "");
put("binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 0xff, 0xfe]));
put("invalid.json", '{"environment": ');
put("list.yaml", "- a\n");
mkdirSync(join(line.folder, "folder"), { mode: 0o700 });

const ONE_LINE = /^svc-iam: [^\n]+\n$/;
/** The commands and messages of which a row was a process. */
const started = new Set<string>();

/** Whether a row is a process: the first of its command, and the first with its message. */
function isProcess(args: readonly string[], message: RegExp): boolean {
  const command = LEAVES.find(({ name }) => `${args.join(" ")} `.startsWith(`${name} `));
  const before = started.size;
  started.add(`${command?.name}`).add(`${message}`);
  return started.size > before;
}

async function refused(
  args: readonly string[],
  message: RegExp,
  status = 2,
  by: CommandLine = line,
): Promise<void> {
  const ran = await (isProcess(args, message) ? by.run(...args) : by.runInThread(...args));
  expect([ran.status, ran.stdout, ran.stderr], args.join(" ")).toEqual([
    status,
    "",
    expect.stringMatching(message),
  ]);
  expect(ran.stderr).toMatch(ONE_LINE);
}

/** Commands by their names, of which some are tried for each kind. */
const some = (leaves: readonly Leaf[], turn: number) =>
  columnsOf(leaves, turn, 5).map((leaf) => [leaf.name, leaf] as const);

describe("usage [CMD-3]:", () => {
  test.each(some(LEAVES, 0))("an unknown flag of %s", (_, leaf) =>
    refused(
      [...complete(leaf), "--nothing"],
      /unknown option '--nothing' \(--help shows the usage\)\n$/,
    ),
  );

  test.each(some(LEAVES, 1))("one argument too many of %s", async (_, leaf) => {
    const { registeredArguments: known } = leaf.command;
    if (known.at(-1)?.variadic) return;
    const values = known.map((argument) => ARGUMENTS[argument.name()] ?? "x");
    const args = [...leaf.name.split(" "), ...values, "more", ...(NEEDED[leaf.name] ?? [])];
    await refused(args, /too many arguments .* \(--help shows the usage\)\n$/);
  });

  const needy = LEAVES.filter(({ command }) =>
    command.registeredArguments.some((one) => one.required),
  );
  test.each(some(needy, 2))("a missing argument of %s", (name) =>
    refused(
      [...name.split(" "), ...(NEEDED[name] ?? [])],
      /missing required argument '[a-z]+' \(--help shows the usage\)\n$/,
    ),
  );

  const printing = LEAVES.filter((leaf) => takes(leaf, "--format"));
  test.each(some(printing, 3))("an unknown format of %s", (_, leaf) =>
    refused(
      [...complete(leaf), "--format", "xml"],
      /'xml' is invalid\. Allowed choices are text, json\. \(--help shows the usage\)\n$/,
    ),
  );

  const listing = LEAVES.filter((leaf) => takes(leaf, "--limit"));
  test.each(some(listing, 4))("a limit of %s that is not a number", (_, leaf) =>
    refused([...complete(leaf), "--limit", "all"], /Write a whole number from 1 to 100000\./),
  );
});

describe("a configuration [CMD-3]:", () => {
  const UNREADABLE: readonly [string, RegExp][] = [
    ["none.yaml", /none\.yaml does not exist in \S+; name the configuration file\n$/],
    ["folder", /folder cannot be read \(EISDIR\); it is a folder: name the file in it\n$/],
    [".", /: \. cannot be read \(EISDIR\); it is a folder: name the file in it\n$/],
    ["binary", /binary is not UTF-8 text; name the configuration file, or save it as UTF-8\n$/],
  ];
  const WRONG: readonly [string, RegExp][] = [
    [
      "empty",
      /: empty:1:1 the file is empty; write the configuration into it, or name another file\n$/,
    ],
    ["list.yaml", /: list\.yaml:1:1 the file must contain keys and values\n$/],
  ];
  /** A check and a print find something; for others, the file cannot be used. */
  const statusOf = (name: string) => (name.startsWith("config ") ? 1 : 2);

  test.each(some(OF_CONFIGURATION, 0))("of %s that cannot be read", async (name) => {
    for (const [file, message] of UNREADABLE) await refused([...name.split(" "), file], message);
  });

  test.each(some(OF_CONFIGURATION, 1))("of %s that is none", async (name) => {
    for (const [file, message] of WRONG) {
      await refused([...name.split(" "), file], message, statusOf(name));
    }
  });

  test.each(some(OF_API, 2))("of %s --offline", async (_, leaf) => {
    for (const [file, message] of [...UNREADABLE, ...WRONG]) {
      await refused([...complete(leaf), "--offline", file], message);
    }
  });
});

describe("a login [CMD-3]:", () => {
  const LOGIN = {
    server: "http://127.0.0.1:1021",
    issuer: "http://127.0.0.1:1021/v1/iam/oidc",
    clientId: "a client",
    accessToken: "a-token",
    // A whole run may take many minutes on a busy machine.
    expires: Date.now() + 86_400_000,
    organizationId: "acme",
    username: "root",
  };
  const LOGINS: readonly [string, string | undefined, RegExp][] = [
    ["that there is not", undefined, /: nobody is logged in: run svc-iam login with the address/],
    ["in an empty file", "", /login\.json is not a login: remove it, and run svc-iam login\n$/],
    ["that is not JSON", "{", /login\.json is not a login: remove it, and run svc-iam login\n$/],
    [
      "at what is not a URL",
      JSON.stringify({ ...LOGIN, server: "iam" }),
      /login\.json is not a login: remove it, and run svc-iam login\n$/,
    ],
    [
      "until a time that is none",
      JSON.stringify({ ...LOGIN, expires: 1e300 }),
      /login\.json is not a login: remove it, and run svc-iam login\n$/,
    ],
    [
      "that has ended",
      JSON.stringify({ ...LOGIN, expires: 0 }),
      /: the login has ended: run svc-iam login\n$/,
    ],
    [
      "that has ended, at a server that does not answer",
      JSON.stringify({ ...LOGIN, expires: 0, refreshToken: "another token" }),
      /cannot be reached or used: nothing listens there: check the address/,
    ],
    [
      "at a server that does not answer",
      JSON.stringify(LOGIN),
      /cannot be reached or used: nothing listens there: check the address/,
    ],
  ];
  describe.each(LOGINS.map(([what, text, message], turn) => ({ what, text, message, turn })))(
    "$what",
    ({ text, message, turn }) => {
      // Each command with several of the states: they all read the login in one place.
      const selected = OF_API.filter((_, command) => (command + turn) % 3 === 0);
      test.each(some(selected, turn))("of %s", async (_, leaf) => {
        const own = new CommandLine({ SVC_IAM_LOGIN_FILE: "login.json" });
        writeFileSync(join(own.folder, "relationships.txt"), "zone:acme#owner@user:alice\n");
        if (text !== undefined)
          writeFileSync(join(own.folder, "login.json"), text, { mode: 0o600 });
        await refused(complete(leaf), message, 2, own);
      });
    },
  );

  test.each(["whoami", "token", "logout", "login"])(
    "whose file is a folder, of %s",
    async (name) => {
      const own = new CommandLine({ SVC_IAM_LOGIN_FILE: "." });
      const { status, stdout, stderr } = await own.run(name);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(
        "svc-iam: . is not a file: remove it, or name another file in SVC_IAM_LOGIN_FILE\n",
      );
    },
  );
});

describe("a file [CMD-3]:", () => {
  const FILES: readonly [string, readonly string[], RegExp][] = [
    [
      "an import of a folder",
      ["relationship", "import", "folder"],
      /folder cannot be read: it is a folder; name a file\n$/,
    ],
    [
      "an import below a file",
      ["relationship", "import", "empty/x"],
      /empty\/x cannot be read: a part of its path is a file; name another file\n$/,
    ],
    [
      "an import of a binary",
      ["relationship", "import", "binary"],
      /binary:1 is not a line of text with a relationship: name a file such as/,
    ],
    [
      "an import of invalid JSON",
      ["relationship", "import", "invalid.json"],
      /invalid\.json:1: "\{.*" is not a valid relationship: write type:id#relation@type:id/,
    ],
    [
      "a password in a folder",
      ["user", "create", "a", "--email", "a@example.com", "--password-file", "folder"],
      /folder cannot be read: it is a folder; name a file\n$/,
    ],
    [
      "a public key in an empty file",
      ["service-account", "key", "create", "x", "--public-key", "empty"],
      /--public-key empty is empty: name another file\n$/,
    ],
    [
      "an issuer that is not one",
      ["login", "http://localhost:1", "--issuer", "ftp://x"],
      /--issuer "ftp:\/\/x" is not the URL of an identity provider: write https:\/\/id\.example\.com\n$/,
    ],
  ];
  test.each(FILES)("%s", (_, args, message) => refused(args, message));

  test("JSON that is not a relationship is refused here, and a long one is cut", async () => {
    put("other.json", `{"resource": null, "note": "${"x".repeat(1000)}"}\n`);
    const message = /other\.json:1: "\{.{1,200}…" is not a valid relationship: write type:id/;
    await refused(["relationship", "import", "other.json"], message);
  });
});
