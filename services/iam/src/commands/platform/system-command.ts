import { Command } from "commander";
import { withFormat } from "../run/flags.ts";

/** The flags of a command that calls the API with the system token. */
export interface SystemFlags {
  readonly server?: string;
  readonly format: "text" | "json";
}

/** What the help of such a command says. */
export interface SystemCommandHelp {
  /** The file that is read if none is named. */
  readonly configuration: string;
  readonly details?: string;
  readonly examples: readonly string[];
  /** The exit codes. */
  readonly codes?: string;
}

const CODES = "0 done, 2 usage, or a server that refuses or does not answer.";

/** A command that calls the API with the system token of a configuration. */
export function systemCommand(name: string, description: string, help: SystemCommandHelp): Command {
  const { configuration, details = "", examples, codes = CODES } = help;
  const text = details === "" ? "" : `\n${details}\n`;
  return withFormat(
    new Command(name)
      .description(description)
      .argument("[configuration]", "the file with the system token", configuration)
      .option("--server <url>", "where the service answers (default: on this machine)"),
  ).addHelpText(
    "after",
    `${text}
It calls the service with security.authn.internal_call.system_token of the configuration.

Examples:
${examples.map((line) => `  ${line}`).join("\n")}

Exit codes: ${codes}`,
  );
}
