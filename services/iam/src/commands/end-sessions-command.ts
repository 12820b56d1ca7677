import { Command } from "commander";
import { runCommand } from "./run/run-command.ts";

/**
 * The command `svc-iam end-sessions`.
 *
 * @param configuration the file that is read if none is named
 */
export function endSessionsCommand(configuration: string): Command {
  return new Command("end-sessions")
    .description(
      "Log everybody out: end all sessions, refresh tokens, codes and links for new passwords.",
    )
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
Run it after the database was restored from a backup and before the service starts: the backup brings
back logins, tokens and links that had ended since. It may also run while the service does.

Exit codes: 0 all sessions were ended, 2 usage, or a database that cannot be used.`,
    )
    .action((file: string) => runCommand(() => endAll(file)));
}

async function endAll(file: string): Promise<number> {
  const { loadIamConfig } = await import("../config/load-iam-config.ts");
  const { endSessions } = await import("./end-sessions.ts");
  const ended = await endSessions(loadIamConfig(file));
  process.stdout.write(`sessions ended: ${ended}\n`);
  return 0;
}
