import type { Api } from "../api/api.ts";
import type { PlatformConfig } from "../config/config.ts";

/** A file that an emitter made, not yet written. */
export interface OutputFile {
  /** The path below the output folder, with forward slashes. */
  readonly name: string;
  readonly content: string;
}

/** What emitters read: an `Api` that has no errors, and the platform configuration. */
export interface EmitInput {
  readonly api: Api;
  /** Absent where a repository has no `svc-access.yaml`. */
  readonly config: PlatformConfig | undefined;
  /** The path of the configuration, for messages. */
  readonly configFile?: string;
}

/** What an emitter made. */
export interface EmitResult {
  readonly files: readonly OutputFile[];
  /** What the user should know, one line each: what was left out, and why. */
  readonly notes: readonly string[];
}

/**
 * The platform configuration says something that an emitter cannot express
 * safely. The message is for the user: what is wrong and how to fix it.
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
