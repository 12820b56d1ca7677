import type { Api } from "../api/api.ts";
import type { PlatformConfig } from "../config/config.ts";

/** A file that an emitter made, not yet written. */
export interface OutputFile {
  /** The path below the output folder, with forward slashes. */
  readonly name: string;
  readonly content: string;
}

/** The input of emitters: an `Api` without errors, and the platform configuration. */
export interface EmitInput {
  readonly api: Api;
  /** Absent if a repository has no `svc-access.yaml`. */
  readonly config: PlatformConfig | undefined;
  /** The path of the configuration, for messages. */
  readonly configFile?: string;
}

/** The output of an emitter. */
export interface EmitResult {
  readonly files: readonly OutputFile[];
  /** Notes for the user, one line each, for example about routes that were left out. */
  readonly notes: readonly string[];
}

/**
 * The platform configuration contains something that an emitter cannot express
 * safely. The message tells the user what is wrong and how to fix it.
 */
export class EmitError extends Error {
  override readonly name = "EmitError";
  /** The message, line by line. */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join("\n"));
    this.lines = lines;
  }
}
