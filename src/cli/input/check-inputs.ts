import { statSync } from "node:fs";
import { Option } from "commander";
import { note } from "../../common/note.ts";
import { loadPlatform, type Platform } from "../../compiler/platform.ts";
import { type CheckedApi, readAndCheck } from "../../compiler/read-and-check.ts";
import type { Rule } from "../../rules/rule.ts";
import { displayPaths, type Input, readInputs } from "./inputs.ts";

/** The options for the platform configuration and the model. */
export interface PlatformFlags {
  readonly config?: string;
  readonly model?: string;
}

/** The flags `--config` and `--model`. */
export function platformFlags(): Option[] {
  return [
    new Option(
      "--config <file>",
      "the platform configuration (default: svc-access.yaml of the input folder, or of the working directory if there are several inputs or the folder has none)",
    ),
    new Option(
      "--model <file>",
      "the authorization model of all services (default: the models in the configuration)",
    ),
  ];
}

/** The inputs of a command, read and checked. */
export interface CheckedInputs {
  readonly inputs: readonly Input[];
  readonly platform: Platform;
  readonly checked: CheckedApi;
}

/** Reads the inputs of a command and checks them. */
export async function checkInputs(
  names: readonly string[],
  flags: PlatformFlags,
  rules?: readonly Rule[],
): Promise<CheckedInputs> {
  const folders = names.filter((name) => statSync(name, { throwIfNoEntry: false })?.isDirectory());
  // A repository configures itself; several inputs are configured where the command runs.
  const places = names.length === 1 ? [...folders, "."] : [".", ...folders];
  const platform = await loadPlatform({ ...flags, folders: places });
  const { unread = [] } = platform;
  if (unread.length > 0) {
    note(
      `the configuration is ${platform.config?.file}; ${unread.join(", ")} is not read (name another with --config)`,
    );
  }
  const inputs = readInputs(names, progress);
  const checked = readAndCheck(
    inputs.map(({ files }) => files),
    platform,
    rules,
    displayPaths(inputs),
  );
  return { inputs, platform, checked };
}

/** Reports progress if a person is watching. */
export function progress(line: string): void {
  if (process.stderr.isTTY) note(line);
}
