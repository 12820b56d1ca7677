import { Command } from "commander";
import { type FormatFlags, withFormat } from "./run/flags.ts";
import { printJson, printLine } from "./run/print.ts";
import { runCommand, say } from "./run/run-command.ts";

/** The exit codes of the command. */
const EXIT = { rewrapped: 0, unopened: 1 } as const;

/**
 * The command `svc-iam rewrap`.
 *
 * @param configuration the file that is read if none is named
 */
export function rewrapCommand(configuration: string): Command {
  return withFormat(
    new Command("rewrap")
      .description(
        "Encrypt all secrets of the database with the first key of iam.encryption_key_file.",
      )
      .argument("[configuration]", "the file of the configuration", configuration),
  )
    .addHelpText(
      "after",
      `
svc-iam key rotate --encryption does the same.

It may run while the service does. Before it, each replica must have started with a file that has
the new key first and the old one after it; after it, the old key may be removed.

Examples:
  svc-iam rewrap
  svc-iam rewrap /etc/svc-iam/service.yaml --format json

Exit codes: 0 all values have the first key, 1 a value could not be opened and is as it was, 2 usage, or a
key file or database that cannot be used.`,
    )
    .action((file: string, flags: FormatFlags) => runCommand(() => rewrapAll(file, flags)));
}

/** Encrypts all secrets of the database with the first key. @returns the exit code */
export async function rewrapAll(file: string, { format }: FormatFlags): Promise<number> {
  const { loadCommandConfig } = await import("../config/load-iam-config.ts");
  const { rewrapDatabase } = await import("./rewrap-database.ts");
  const { rewrapped, unopened, reason } = await rewrapDatabase(loadCommandConfig(file));
  if (format === "json") await printJson({ rewrapped, unopened });
  // A run that could open nothing has no result for people.
  else if (unopened === 0 || rewrapped > 0) {
    await printLine(`${rewrapped} values are now encrypted with the first key`);
  }
  if (unopened === 0) return EXIT.rewrapped;
  say(
    `${unopened} values could not be opened and are as they were, the first one: ${reason ?? "unknown"}`,
  );
  return EXIT.unopened;
}
