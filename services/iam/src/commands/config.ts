import { ConfigurationError, redact } from "svc-access/runtime";
import { type LoadedIamConfig, loadIamConfig } from "../config/load-iam-config.ts";
import { printable, printLine } from "./run/print.ts";
import { EXIT, say } from "./run/run-command.ts";
import { startProblems } from "./start-problems.ts";

/** Checks a configuration. @returns the exit code */
export async function checkConfig(file: string): Promise<number> {
  const loaded = loadOrReport(file);
  if (loaded === undefined) return EXIT.no;
  for (const warning of loaded.warnings) say(`warning: ${warning}`);
  const problems = startProblems(loaded);
  if (problems.length > 0) {
    say(new ConfigurationError(file, problems).message);
    return EXIT.no;
  }
  await printLine(`${printable(file)} is valid`);
  return EXIT.done;
}

/** Prints a configuration without its secrets. @returns the exit code */
export async function printConfig(file: string): Promise<number> {
  const loaded = loadOrReport(file);
  if (loaded === undefined) return EXIT.no;
  const effective = redact({ ...loaded.config, ...loaded.sections });
  await printLine(JSON.stringify(effective, undefined, 2));
  return EXIT.done;
}

function loadOrReport(file: string): LoadedIamConfig | undefined {
  try {
    return loadIamConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    say(error.message);
    return undefined;
  }
}
