import { Command } from "commander";
import { exitOnceWritten } from "../common/note.ts";
import { version } from "../common/version.ts";
import { runCommands } from "../diagnostics/run-commands.ts";
import { explainCommand } from "./explain.ts";
import { generateCommand } from "./generate.ts";
import { initCommand } from "./init/init.ts";
import { lintCommand } from "./lint.ts";
import { modelCommand } from "./model/model.ts";
import { routesCommand } from "./routes.ts";

/** The commands of `src/operator`, which `bin/svc-access` loads instead. */
const OPERATOR_COMMANDS = ["audit", "database", "relationship"];

/** The entry of `bin/svc-access`. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  const program = new Command("svc-access")
    .description(
      "Compiles the access policies of RPCs into gateway configuration and server code that enforce them.",
    )
    .version(version)
    .addHelpText(
      "after",
      `
Examples:
  svc-access init                          write buf.yaml, buf.gen.yaml and svc-access.yaml
  svc-access lint .                        check all annotations of this repository
  buf build -o - | svc-access lint -       check an image
  svc-access explain . GetSkill            explain who may call an RPC, and why

For a service (each command has its own --help):
  svc-access audit list|export|follow      read the audit events, while the service runs
  svc-access relationship list|touch|delete  change the stored relationships, while the service is stopped
  svc-access database migrate              create the tables of a service, as the role that owns them

Exit codes: 0 clean, 1 findings, 2 usage or unreadable input.`,
    );
  for (const command of [
    lintCommand(),
    generateCommand(),
    routesCommand(),
    explainCommand(),
    initCommand(),
    modelCommand(),
  ]) {
    program.addCommand(command);
  }
  await runCommands(program, argv, { otherCommands: OPERATOR_COMMANDS });
  await exitOnceWritten();
}
