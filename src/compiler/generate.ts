import { DescriptorError } from "../api/descriptors/file-outline.ts";
import { compareText } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import {
  EmitError,
  type EmitInput,
  type EmitResult,
  type OutputFile,
} from "../emit/output-file.ts";
import type { Platform } from "./platform.ts";
import type { CheckedApi } from "./read-and-check.ts";
import { TARGETS, type Target } from "./targets.ts";

/** What is generated, and how TypeScript is written. */
export interface GenerateOptions {
  readonly targets: readonly Target[];
  /** Options of protoc-gen-es, such as `import_extension=js`. */
  readonly importOptions: readonly string[];
  /** Whether to make outputs that span files; the default is true. */
  readonly isWhole?: boolean;
}

/** The files of all targets. */
export interface Generated {
  /** The files, by name. */
  readonly files: readonly OutputFile[];
  readonly notes: readonly string[];
}

/**
 * Generates the files of the targets, in memory.
 *
 * @param checked - an API without findings of severity error
 * @throws UsageError if two outputs have the same name.
 */
export async function generate(
  checked: CheckedApi,
  platform: Platform,
  options: GenerateOptions,
): Promise<Generated> {
  if (checked.diagnostics.some(({ severity }) => severity === "error")) {
    throw new Error("nothing may be generated from an Api with errors");
  }
  const input: EmitInput = {
    api: checked.api,
    config: platform.config?.config,
    ...(platform.config === undefined ? {} : { configFile: platform.config.file }),
  };
  const files = new Map<string, OutputFile>();
  const notes: string[] = [];
  for (const target of TARGETS) {
    if (!options.targets.includes(target)) continue;
    // Plugins start often, so a target's code is loaded only when needed.
    const result = await emit(target, input, checked, options).catch((error: Error) => {
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
  checked: CheckedApi,
  { importOptions, isWhole }: GenerateOptions,
): Promise<EmitResult> {
  switch (target) {
    case "routes":
      return (await import("../emit/routes.ts")).emitRoutes(input);
    case "policies":
      return (await import("../emit/policies.ts")).emitPolicies(input, isWhole);
    case "server": {
      const { files, messages } = checked;
      const { emitServer } = await import("../emit/server/server.ts");
      return emitServer({ ...input, files, messages, importOptions });
    }
    case "gateway":
      return (await import("../emit/gateway/index.ts")).emitGateway(input);
  }
}
