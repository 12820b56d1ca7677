import { DescriptorError } from "../api/descriptors/file-outline.ts";
import { compareText } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import {
  EmitError,
  type EmitInput,
  type EmitResult,
  type OutputFile,
} from "../emit/output-file.ts";
import type { Judgement } from "./judge.ts";
import type { Platform } from "./platform.ts";
import { TARGETS, type Target } from "./targets.ts";

/** How TypeScript is written, in the options of protoc-gen-es. */
export interface GenerateOptions {
  readonly targets: readonly Target[];
  /** `import_extension=js` and the like. */
  readonly importOptions: readonly string[];
  /** Whether outputs that span files are made; absent is true. */
  readonly isWhole?: boolean;
}

/** The files of all targets. */
export interface Generated {
  /** The files, by name. */
  readonly files: readonly OutputFile[];
  readonly notes: readonly string[];
}

/**
 * Makes the files of the targets, in memory.
 *
 * @param judgement - what was read, without findings of severity error
 * @throws UsageError where two outputs have one name.
 */
export async function generate(
  judgement: Judgement,
  platform: Platform,
  options: GenerateOptions,
): Promise<Generated> {
  if (judgement.diagnostics.some(({ severity }) => severity === "error")) {
    throw new Error("nothing may be generated from an Api with errors");
  }
  const input: EmitInput = {
    api: judgement.api,
    config: platform.config?.config,
    ...(platform.config === undefined ? {} : { configFile: platform.config.file }),
  };
  const files = new Map<string, OutputFile>();
  const notes: string[] = [];
  for (const target of TARGETS) {
    if (!options.targets.includes(target)) continue;
    // What a target needs is loaded only when it is asked for: a plugin is started often.
    const result = await emit(target, input, judgement, options).catch((error: Error) => {
      if (error instanceof EmitError) throw new UsageError(error.lines);
      throw error instanceof DescriptorError ? new UsageError(error.message) : error;
    });
    notes.push(...result.notes);
    for (const file of result.files) {
      if (files.has(file.name)) {
        throw new UsageError(
          `two outputs are named ${file.name}; rename one of the proto files or services`,
        );
      }
      files.set(file.name, file);
    }
  }
  return {
    files: [...files.values()].sort((left, right) => compareText(left.name, right.name)),
    notes,
  };
}

async function emit(
  target: Target,
  input: EmitInput,
  judgement: Judgement,
  { importOptions, isWhole }: GenerateOptions,
): Promise<EmitResult> {
  switch (target) {
    case "routes":
      return (await import("../emit/routes.ts")).emitRoutes(input);
    case "policies":
      return (await import("../emit/policies.ts")).emitPolicies(input, isWhole);
    case "server": {
      const { files, messages } = judgement;
      const { emitServer } = await import("../emit/server/server.ts");
      return emitServer({ ...input, files, messages, importOptions });
    }
    case "gateway":
      return (await import("../emit/gateway/index.ts")).emitGateway(input);
  }
}
