import { Command } from "commander";
import { callCommand, listCommand } from "./flags.ts";

/** What the help of a command says besides its arguments and flags. */
export interface ApiCommandHelp {
  /** A paragraph before the examples. */
  readonly details?: string;
  readonly examples: readonly string[];
  /** The exit codes. */
  readonly codes?: string;
  /** Whether it lists, and so takes `--limit`. */
  readonly isList?: boolean;
}

const CODES = "0 done, 2 usage, or a server that refuses or does not answer.";

/** A command that calls the API: with `--format`, and help with examples and exit codes. */
export function apiCommand(name: string, description: string, help: ApiCommandHelp): Command {
  const { details, examples, codes = CODES, isList = false } = help;
  const command = new Command(name).description(description);
  const text = details === undefined ? "" : `\n${details}\n`;
  const lines = examples.map((line) => `  ${line}`).join("\n");
  return (isList ? listCommand : callCommand)(command).addHelpText(
    "after",
    `${text}\nExamples:\n${lines}\n\nExit codes: ${codes}`,
  );
}

/** A command that has others. */
export function commandGroup(
  name: string,
  description: string,
  details: string,
  commands: readonly Command[],
): Command {
  const group = new Command(name).description(description).addHelpText("after", `\n${details}`);
  for (const command of commands) group.addCommand(command);
  return group;
}
