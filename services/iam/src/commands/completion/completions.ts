import type { Argument, Command, Option } from "commander";

/** Stands for the names of files. */
export const FILE = "<file>";

/** What can follow a command. */
export interface Completion {
  /** The names of the command, such as `service-account key`; empty for the program itself. */
  readonly path: string;
  /**
   * Its commands, or the values of its arguments, as far as they are known; of a command without
   * either, its flags.
   */
  readonly words: readonly string[];
  readonly flags: readonly string[];
  /** The values of each flag that takes one, as far as they are known. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** What can follow each command of a program. */
export function completionsOf(command: Command, above: readonly string[] = []): Completion[] {
  const options = command.options.filter(({ long, hidden }) => long != null && !hidden);
  const flags = [...options.map(({ long }) => long as string), "--help"];
  const names = command.commands.map((child) => child.name());
  const words = names.length > 0 ? names : command.registeredArguments.flatMap(valuesOf);
  const isComplete = names.length === 0 && command.registeredArguments.length === 0;
  return [
    {
      path: above.join(" "),
      words: isComplete ? flags : words,
      flags,
      values: new Map(options.filter(takesValue).map((one) => [one.long as string, valuesOf(one)])),
    },
    ...command.commands.flatMap((child) => completionsOf(child, [...above, child.name()])),
  ];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** The values that a flag or an argument can have: its choices, or files, or what nobody knows here. */
function valuesOf(of: Argument | Option): readonly string[] {
  if (of.argChoices !== undefined) return of.argChoices;
  const placeholder = "flags" in of ? of.flags : `<${of.name()}>`;
  return /<(?:file|configuration)>/.test(placeholder) ? [FILE] : [];
}
