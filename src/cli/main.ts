import { Command } from "commander";
import { runCommands } from "../common/run-commands.ts";
import { version } from "../common/version.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import { explainCommand } from "./explain.ts";
import { generateCommand } from "./generate.ts";
import { initCommand } from "./init/init.ts";
import { lintCommand } from "./lint.ts";
import { modelCommand } from "./model/model.ts";
import { routesCommand } from "./routes.ts";

/** The entry of `bin/svc-access`. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  const program = new Command("svc-access")
    .description("Compiles the access policy beside each RPC into everything that enforces it.")
    .version(version)
    .addHelpText(
      "after",
      `
Examples:
  svc-access init                          write buf.yaml, buf.gen.yaml and svc-access.yaml
  svc-access lint .                        judge all annotations of this repository
  buf build -o - | svc-access lint -       judge an image
  svc-access explain . GetSkill            say who may call an RPC, and why

Of a service (each has its own --help):
  svc-access audit list|export|follow      the audit events, while the service runs
  svc-access relationship list|touch|delete  the stored relationships, while the service is stopped
  svc-access database migrate              the tables of a service, made by the role that owns them

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
  await runCommands(program, argv, (error) =>
    error instanceof UsageError ? error.message : undefined,
  );
}
