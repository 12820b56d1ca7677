import { statSync } from "node:fs";
import { Option } from "commander";
import { note } from "../../common/note.ts";
import { type Judgement, judge } from "../../compiler/judge.ts";
import { loadPlatform, type Platform } from "../../compiler/platform.ts";
import type { Rule } from "../../rules/rule.ts";
import { type Input, readInputs } from "./inputs.ts";

/** The options that say where the platform configuration and the model are. */
export interface PlatformFlags {
  readonly config?: string;
  readonly model?: string;
}

/** The flags `--config` and `--model`. */
export function platformFlags(): Option[] {
  return [
    new Option(
      "--config <file>",
      "the platform configuration (default: svc-access.yaml of the input folder, or of the working folder where there are several inputs or it has none)",
    ),
    new Option(
      "--model <file>",
      "the authorization model of all services (default: those that the configuration names)",
    ),
  ];
}

/** What a command has read and judged. */
export interface Run {
  readonly inputs: readonly Input[];
  readonly platform: Platform;
  readonly judgement: Judgement;
}

/** Reads the inputs of a command and judges them. */
export async function run(
  names: readonly string[],
  flags: PlatformFlags,
  rules?: readonly Rule[],
): Promise<Run> {
  const folders = names.filter((name) => statSync(name, { throwIfNoEntry: false })?.isDirectory());
  // One service repository says itself what it is; what is made of several is said where they meet.
  const places = names.length === 1 ? [...folders, "."] : [".", ...folders];
  const platform = await loadPlatform({ ...flags, folders: places });
  const { unread = [] } = platform;
  if (unread.length > 0) {
    note(
      `the configuration is ${platform.config?.file}; ${unread.join(", ")} is not read (name another with --config)`,
    );
  }
  const inputs = readInputs(names, progress);
  const judgement = judge(
    inputs.map(({ files }) => files),
    platform,
    rules,
  );
  return { inputs, platform, judgement };
}

/** Shows what takes time, where somebody watches. */
export function progress(line: string): void {
  if (process.stderr.isTTY) note(line);
}
