#!/usr/bin/env node
/** The command `svc-iam`. */
import { Command } from "commander";
import { bootstrapCommand } from "./commands/bootstrap-command.ts";
import { endSessionsCommand } from "./commands/end-sessions-command.ts";
import { migrateCommand } from "./commands/migrate-command.ts";
import { rewrapDatabase } from "./commands/rewrap-database.ts";
import { runCommand } from "./commands/run-command.ts";
import { serveCommand } from "./commands/serve-command.ts";
import { loadIamConfig } from "./config/load-iam-config.ts";
import { openIam } from "./server.ts";

const CONFIG = "service.yaml";

const program = new Command("svc-iam")
  .description("The identity and access service.")
  .showHelpAfterError("(svc-iam --help shows the commands)")
  .configureOutput({ outputError: (text, write) => write(`svc-iam: ${text}`) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program.addCommand(inherited(serveCommand(CONFIG, (file) => openIam(loadIamConfig(file)))));
program.addCommand(inherited(migrateCommand(CONFIG)));
program
  .command("rewrap")
  .description("Encrypt all secrets of the database with the first key of iam.encryption_key_file.")
  .argument("[configuration]", "the file of the configuration", CONFIG)
  .addHelpText(
    "after",
    `
It may run while the service does. Before it, each replica must have started with a file that has
the new key first and the old one after it; after it, the old key may be removed.

Exit codes: 0 all values have the first key, 1 a value could not be opened and is as it was, 2 usage, or a
key file or database that cannot be used.`,
  )
  .action((file: string) =>
    runCommand(async () => {
      const { rewrapped, unopened, reason } = await rewrapDatabase(loadIamConfig(file));
      process.stdout.write(`${rewrapped} values are now encrypted with the first key\n`);
      if (unopened === 0) return 0;
      process.stderr.write(
        `svc-iam: ${unopened} values could not be opened and are as they were, the first one: ${reason}\n`,
      );
      return 1;
    }),
  );

program.addCommand(inherited(bootstrapCommand(CONFIG)));
program.addCommand(inherited(endSessionsCommand(CONFIG)));

await program.parseAsync();

/** A command that reports wrong usage as the program does. */
function inherited(command: Command): Command {
  return command.copyInheritedSettings(program);
}
