import { ConfigurationError } from "svc-access/runtime";
import { type LoadedIamConfig, loadIamConfig } from "../config/load-iam-config.ts";
import { printedConfig } from "./printed-config.ts";
import { type Format, printable, printJson, printLine } from "./run/print.ts";
import { EXIT, say, sayLines } from "./run/run-command.ts";

/** Checks a configuration. @returns the exit code */
export async function checkConfig(file: string, format: Format): Promise<number> {
  const { warnings, error } = findingsOf(file);
  if (format === "json") {
    const problems = error?.problems ?? [];
    await printJson({ valid: error === undefined, problems, warnings });
    return error === undefined ? EXIT.done : exitOf(error);
  }
  for (const warning of warnings) say(`warning: ${warning}`);
  if (error === undefined) {
    await printLine(`${printable(file)} is valid`);
    return EXIT.done;
  }
  sayLines(error.message);
  return exitOf(error);
}

function findingsOf(file: string): {
  readonly warnings: readonly string[];
  readonly error?: ConfigurationError;
} {
  try {
    const { warnings } = loadIamConfig(file);
    return { warnings };
  } catch (error) {
    if (error instanceof ConfigurationError) return { warnings: [], error };
    throw error;
  }
}

/** Prints a configuration without its secrets. @returns the exit code */
export async function printConfig(file: string): Promise<number> {
  let loaded: LoadedIamConfig;
  try {
    loaded = loadIamConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    sayLines(error.message);
    return exitOf(error);
  }
  await printLine(JSON.stringify(printedConfig(loaded), undefined, 2));
  return EXIT.done;
}

/** A file that could not be read has no findings: the error of the read is the cause. */
function exitOf({ cause }: ConfigurationError): number {
  return cause === undefined ? EXIT.no : EXIT.failed;
}
