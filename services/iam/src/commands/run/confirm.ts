import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { CommandError } from "./command-error.ts";
import type { ConfirmFlags } from "./confirm-flag.ts";
import { printable } from "./print.ts";

/** Asks the person. @throws CommandError unless the answer is yes */
export type Confirm = (question: string) => Promise<void>;

/**
 * How a command asks; it calls this first, so that one that nobody can answer does nothing.
 *
 * @throws CommandError without a terminal and without `--yes`
 */
export function confirmationOf(flags: ConfirmFlags): Confirm {
  if (flags.yes !== true && !hasTerminal()) {
    throw new CommandError("this cannot be undone, and there is no terminal to ask: add --yes");
  }
  return terminalConfirmationOf(flags) ?? (async () => {});
}

/**
 * How a command asks that never refuses for want of a terminal, since scripts run it without `--yes`.
 *
 * @returns undefined where it does not ask: without a terminal, and with `--yes`
 */
export function terminalConfirmationOf({ yes = false }: ConfirmFlags): Confirm | undefined {
  if (yes || !hasTerminal()) return undefined;
  return async (question) => {
    if (await isConfirmed(question, process.stdin, process.stderr)) return;
    throw new CommandError("nothing was done: the answer was not yes");
  };
}

/** A script that reads the result on a terminal can answer all the same. */
function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Whether a question is answered with yes; the end of the input and Ctrl-C are a no. */
export function isConfirmed(question: string, input: Readable, output: Writable): Promise<boolean> {
  const lines = createInterface({ input, output });
  return new Promise((resolve) => {
    // Without an answer, what is written next begins a line of its own.
    const ended = () => void output.write("\n", () => resolve(false));
    lines.once("close", ended);
    lines.question(`svc-iam: ${question} This cannot be undone. [y/N] `, (answer) => {
      lines.off("close", ended).close();
      resolve(/^\s*y(?:es)?\s*$/i.test(answer));
    });
  });
}

/** What somebody names, with its id if that is not the name. */
export function withId(given: string, id: string): string {
  return given === id ? id : `${printable(given)} (${id})`;
}
