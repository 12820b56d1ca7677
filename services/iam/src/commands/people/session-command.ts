import type { Command } from "commander";
import { apiCommand, commandGroup } from "../run/api-command.ts";
import { runCommand } from "../run/run-command.ts";

const USER = "of this user: the id, user name or e-mail address (default: your own)";
const load = () => import("./sessions.ts");

/** The commands `svc-iam session …`. */
export function sessionCommand(): Command {
  const list = apiCommand("list", "List where you, or a user, are logged in.", {
    examples: ["svc-iam session list", "svc-iam session list --user alice"],
  })
    .option("--user <user>", USER)
    .action((flags) => runCommand(async () => (await load()).listSessions(flags)));
  const end = apiCommand("end", "End sessions, with their tokens.", {
    examples: [
      "svc-iam session end 2c9f…",
      "svc-iam session end --others",
      "svc-iam session end --user alice --all",
    ],
  })
    .argument("[session]", "the id of a session")
    .option("--user <user>", USER)
    .option("--others", "all your own sessions but this one")
    .option("--all", "all sessions of the user that --user names")
    .action((session, flags) => runCommand(async () => (await load()).endSessions(session, flags)));
  return commandGroup(
    "session",
    "List and end sessions.",
    "Examples:\n  svc-iam session list\n  svc-iam session end --others",
    [list, end],
  );
}
