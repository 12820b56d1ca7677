#!/usr/bin/env node
/** The command `svc-iam`. */
import { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import { bootstrapCommand } from "./commands/bootstrap-command.ts";
import { endSessionsCommand } from "./commands/end-sessions-command.ts";
import { migrateCommand } from "./commands/migrate-command.ts";
import { rewrapCommand } from "./commands/rewrap-command.ts";
import { serveCommand } from "./commands/serve-command.ts";
import { loadIamConfig } from "./config/load-iam-config.ts";
import { openIam } from "./server.ts";

const CONFIG = "service.yaml";

const program = new Command("svc-iam")
  .description("The identity and access service.")
  .version(manifest.version)
  .showHelpAfterError("(svc-iam --help shows the commands)")
  .configureOutput({ outputError: (text, write) => write(`svc-iam: ${text}`) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program.addCommand(inherited(serveCommand(CONFIG, (file) => openIam(loadIamConfig(file)))));
program.addCommand(inherited(migrateCommand(CONFIG)));
program.addCommand(inherited(rewrapCommand(CONFIG)));
program.addCommand(inherited(bootstrapCommand(CONFIG)));
program.addCommand(inherited(endSessionsCommand(CONFIG)));

await program.parseAsync();

/** A command that reports wrong usage as the program does. */
function inherited(command: Command): Command {
  return command.copyInheritedSettings(program);
}
