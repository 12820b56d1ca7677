import { type Command, InvalidArgumentError, Option } from "commander";
import type { Format } from "./print.ts";

/** The flags of a command with `--format`. */
export interface FormatFlags {
  readonly format: Format;
}

/** The flags of a command that calls the API. */
export type CallFlags = FormatFlags;

/** The flags of a command that lists. */
export interface ListFlags extends CallFlags {
  readonly limit: number;
}

/** How many items a list has without `--limit`. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 100_000;

/** Adds `--format`. */
export function withFormat(command: Command): Command {
  return command.addOption(
    new Option("--format <format>", "the output format").choices(["text", "json"]).default("text"),
  );
}

/** Adds the flags of a command that calls the API. */
export function callCommand(command: Command): Command {
  return withFormat(command).option(
    "--offline <configuration>",
    "work on the store of this configuration as operator; no server may run",
  );
}

/** Adds the flags of a command that lists. */
export function listCommand(command: Command): Command {
  return callCommand(command).addOption(
    new Option("--limit <count>", "the most items")
      .argParser(wholeNumber(MAX_LIMIT))
      .default(DEFAULT_LIMIT),
  );
}

/** Parses a flag that is a whole number from 1 to a limit. */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const value = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
    if (value <= most) return value;
    throw new InvalidArgumentError(`Write a whole number from 1 to ${most}.`);
  };
}
