import type { Command } from "commander";
import { apiCommand, commandGroup } from "../run/api-command.ts";
import {
  ASKS,
  ASKS_ON_TERMINAL,
  confirmedCommand,
  terminalConfirmedCommand,
} from "../run/confirm-flag.ts";
import { runCommand } from "../run/run-command.ts";

const USER = "the id, user name or e-mail address of the user";
const load = () => import("./users.ts");

/** The commands `svc-iam user …`. */
export function userCommand(): Command {
  const list = apiCommand("list", "List the users, by user name.", {
    isList: true,
    examples: ["svc-iam user list --query an", "svc-iam user list --group Engineers"],
  })
    .option("--query <text>", "whose user name, display name or e-mail address begins with this")
    .option("--group <group>", "who are direct members of this group: its id or name")
    .action((flags) => runCommand(async () => (await load()).listUsers(flags)));
  const get = apiCommand("get", "Show a user.", {
    examples: ["svc-iam user get alice", "svc-iam user get alice@example.com --format json"],
  })
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).getUser(user, flags)));
  const create = apiCommand("create", "Create a user.", {
    details: `Without --password-file the user has a random password that nobody knows, and the link by which the user
sets one is written to standard output: give it to the user as you give a password.`,
    examples: [
      "svc-iam user create alice --email alice@example.com --display-name 'Alice Archer'",
      "svc-iam user create alice --email alice@example.com --password-file - < password",
    ],
  })
    .argument("<username>", "the name that the user logs in with")
    .requiredOption("--email <address>", "the e-mail address")
    .option("--display-name <name>", "the name that people see (default: the user name)")
    .option("--password-file <file>", "a file with the password on its first line; - for input")
    .action((name, flags) => runCommand(async () => (await load()).createUser(name, flags)));
  const update = apiCommand("update", "Change a user.", {
    examples: ["svc-iam user update alice --email alice@example.org"],
  })
    .argument("<user>", USER)
    .option("--username <name>", "the name that the user logs in with")
    .option("--display-name <name>", "the name that people see")
    .option("--email <address>", "the e-mail address")
    .option("--avatar-url <url>", "the picture; empty for none")
    .option("--etag <etag>", "change nothing if the user was changed since this was read")
    .action((user, flags) => runCommand(async () => (await load()).updateUser(user, flags)));
  const disable = apiCommand("disable", "Bar a user from logging in, and end all sessions.", {
    examples: ["svc-iam user disable alice"],
  })
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).disableUser(user, flags)));
  const enable = apiCommand("enable", "Let a user log in again.", {
    examples: ["svc-iam user enable alice"],
  })
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).enableUser(user, flags)));
  const remove = confirmedCommand(
    apiCommand("delete", "Delete a user, with all relationships.", {
      details: ASKS,
      examples: ["svc-iam user delete alice", "svc-iam user delete alice --yes"],
    }),
  )
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).deleteUser(user, flags)));
  const resetLink = apiCommand("reset-link", "Make a link by which a user sets a new password.", {
    details: "Only the link is written to standard output. It works once, for an hour.",
    examples: ["svc-iam user reset-link alice"],
  })
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).makeResetLink(user, flags)));
  const removeFactors = terminalConfirmedCommand(
    apiCommand(
      "remove-factors",
      "Remove the second factors and recovery codes of a user who has lost them.",
      {
        details: `The password is enough then to log in, unless the configuration requires a second factor, which the user adds at the
next login. Be sure who asks for it. Only owners of the zone may do it; --offline does it where no owner can log in.
${ASKS_ON_TERMINAL}`,
        examples: [
          "svc-iam user remove-factors alice",
          "svc-iam user remove-factors root --offline service.yaml",
        ],
      },
    ),
  )
    .argument("<user>", USER)
    .action((user, flags) => runCommand(async () => (await load()).removeFactors(user, flags)));
  return commandGroup(
    "user",
    "List, create, change and delete users.",
    "Examples:\n  svc-iam user list\n  svc-iam user create alice --email alice@example.com\n  svc-iam user disable alice",
    [list, get, create, update, disable, enable, remove, resetLink, removeFactors],
  );
}
