import { Command } from "commander";
import { commandGroup } from "./run/api-command.ts";
import { type FormatFlags, withFormat } from "./run/flags.ts";
import { runCommand } from "./run/run-command.ts";

const load = () => import("./config.ts");

/**
 * The commands `svc-iam config …`.
 *
 * @param configuration the file that is read if none is named
 */
export function configCommand(configuration: string): Command {
  const check = withFormat(
    new Command("check")
      .description("Check a configuration, without starting anything.")
      .argument("[configuration]", "the file of the configuration", configuration),
  )
    .addHelpText(
      "after",
      `
It reads the file, the variables, and the files that it names: secrets, certificates, keys, the model and the logo.
Problems have their positions. Those between keys and of files are reported once every value is what its key takes.
Warnings are as at a start. It asks no database or SpiceDB.

Examples:
  svc-iam config check /etc/svc-iam/service.yaml
  svc-iam config check --format json | jq -r .problems[]

Exit codes: 0 svc-iam can start with it, 1 it has problems, 2 usage, or the file cannot be read.`,
    )
    .action((file: string, { format }: FormatFlags) =>
      runCommand(async () => (await load()).checkConfig(file, format)),
    );
  const print = new Command("print")
    .description("Print a configuration with its defaults and variables, without secrets.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
The output is JSON, which YAML contains. Secrets are ***.

Examples:
  svc-iam config print | jq .iam.sessions

Exit codes: 0 printed, 1 the configuration has problems, 2 usage, or the file cannot be read.`,
    )
    .action((file: string) => runCommand(async () => (await load()).printConfig(file)));
  return commandGroup(
    "config",
    "Check and print the configuration.",
    "Examples:\n  svc-iam config check\n  svc-iam config print",
    [check, print],
  );
}
