import { Command } from "commander";
import {
  ASKS_ON_TERMINAL,
  type ConfirmFlags,
  terminalConfirmedCommand,
} from "./run/confirm-flag.ts";
import { type FormatFlags, withFormat } from "./run/flags.ts";
import { printJson, printLine } from "./run/print.ts";
import { EXIT, runCommand } from "./run/run-command.ts";

/**
 * The command `svc-iam end-sessions`.
 *
 * @param configuration the file that is read if none is named
 */
export function endSessionsCommand(configuration: string): Command {
  return terminalConfirmedCommand(
    withFormat(
      new Command("end-sessions")
        .description(
          "Log everybody out: end all sessions, refresh tokens, codes and links for new passwords.",
        )
        .argument("[configuration]", "the file of the configuration", configuration),
    ),
  )
    .addHelpText(
      "after",
      `
Run it after the database was restored from a backup and before the service starts: the backup brings
back logins, tokens and links that had ended since. It may also run while the service does.
${ASKS_ON_TERMINAL}

Examples:
  svc-iam end-sessions
  svc-iam end-sessions /etc/svc-iam/service.yaml --yes --format json

Exit codes: 0 all sessions were ended, 2 usage, or a database that cannot be used.`,
    )
    .action((file: string, flags: FormatFlags & ConfirmFlags) =>
      runCommand(() => endAll(file, flags)),
    );
}

async function endAll(
  file: string,
  { format, ...flags }: FormatFlags & ConfirmFlags,
): Promise<number> {
  const { loadCommandConfig } = await import("../config/load-iam-config.ts");
  const { endSessions } = await import("./end-sessions.ts");
  const { terminalConfirmationOf } = await import("./run/confirm.ts");
  const configuration = loadCommandConfig(file);
  await terminalConfirmationOf(flags)?.(
    `log everybody of the organization ${configuration.sections.iam.organization} out?`,
  );
  const ended = await endSessions(configuration);
  if (format === "json") await printJson({ ended });
  else await printLine(`sessions ended: ${ended}`);
  return EXIT.done;
}
