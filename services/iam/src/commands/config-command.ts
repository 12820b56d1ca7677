import { Command } from "commander";
import { commandGroup } from "./run/api-command.ts";
import { runCommand } from "./run/run-command.ts";

const load = () => import("./config.ts");

/**
 * The commands `svc-iam config …`.
 *
 * @param configuration the file that is read if none is named
 */
export function configCommand(configuration: string): Command {
  const check = new Command("check")
    .description("Check a configuration, without starting anything.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
It reads the file, the variables, and the files that it names: secrets, keys, the model and the logo. All problems
are reported, those of the file itself first and each with its position; warnings as at a start. It asks no database
or SpiceDB.

Examples:
  svc-iam config check /etc/svc-iam/service.yaml

Exit codes: 0 svc-iam can start with it, 1 it has problems, 2 usage.`,
    )
    .action((file: string) => runCommand(async () => (await load()).checkConfig(file)));
  const print = new Command("print")
    .description("Print a configuration with its defaults and variables, without secrets.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
The output is JSON, which YAML contains. Secrets are ***.

Examples:
  svc-iam config print | jq .iam.sessions

Exit codes: 0 printed, 1 the configuration has problems, 2 usage.`,
    )
    .action((file: string) => runCommand(async () => (await load()).printConfig(file)));
  return commandGroup(
    "config",
    "Check and print the configuration.",
    "Examples:\n  svc-iam config check\n  svc-iam config print",
    [check, print],
  );
}
