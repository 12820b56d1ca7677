import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type GeneratorRequest,
  readCodeGeneratorRequest,
} from "../api/descriptors/code-generator-request.ts";
import { DescriptorError } from "../api/descriptors/file-outline.ts";
import { printable } from "../common/printable.ts";
import { checkTargets } from "../compiler/check-targets.ts";
import { generate } from "../compiler/generate.ts";
import { modulePaths } from "../compiler/module-paths.ts";
import { loadPlatform } from "../compiler/platform.ts";
import { readAndCheck } from "../compiler/read-and-check.ts";
import { compareDiagnostics, formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { OutputFile } from "../emit/output-file.ts";
import { RULES } from "../rules/index.ts";
import { parsePluginOptions } from "./options.ts";
import { refusePartialRun } from "./partial-run.ts";

/** The result of a run of the plugin. */
export interface PluginResult {
  /** An encoded `google.protobuf.compiler.CodeGeneratorResponse`. */
  readonly response: Uint8Array;
  /** Lines for standard error. */
  readonly notes: readonly string[];
}

/**
 * Runs `protoc-gen-svc-access` on a CodeGeneratorRequest.
 *
 * Findings and unusable input become the error of the response, which compilers
 * print unchanged; such a response has no files.
 */
export async function runProtocPlugin(request: Uint8Array, folder: string): Promise<PluginResult> {
  try {
    return await run(readCodeGeneratorRequest(request), folder);
  } catch (error) {
    if (error instanceof UsageError || error instanceof DescriptorError) {
      const text = error instanceof UsageError ? error.message : printable(error.message);
      return { response: encodeResponse({ error: text }), notes: [] };
    }
    const { message } = error as Error;
    return {
      response: encodeResponse({ error: printable(`internal error: ${message}`) }),
      notes: [],
    };
  }
}

async function run(request: GeneratorRequest, folder: string): Promise<PluginResult> {
  const options = parsePluginOptions(request.parameter);
  const platform = await loadPlatform({ ...options, folders: [folder] });
  // Warnings are for lint; a successful generation prints none.
  const rules = RULES.filter(({ category }) => category === "ACCESS");
  const shownFile = modulePaths(folder);
  const read = readAndCheck([request.files], platform, rules, shownFile);
  // Clients have no outputs that span files.
  const { services, clients } = read.api;
  const isOfClients = clients.length > 0 && services.every((each) => each.services.length === 0);
  if (!isOfClients) {
    await refusePartialRun(request, options, platform.config?.config, folder);
  }
  const isWhole = options.files !== "each";
  const checked = isWhole ? checkTargets(read, platform, options.targets) : read;
  const errors = checked.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
    const shown = errors.map((error) => ({ ...error, file: shownFile(error.file) }));
    const lines = [
      `${count}; nothing is generated`,
      ...shown.sort(compareDiagnostics).map(formatDiagnostic),
    ];
    return { response: encodeResponse({ error: lines.join("\n") }), notes: checked.notes };
  }
  const { files, notes } = await generate(checked, platform, { ...options, isWhole });
  return { response: encodeResponse({ files }), notes: [...checked.notes, ...notes] };
}

/** FEATURE_PROTO3_OPTIONAL and FEATURE_SUPPORTS_EDITIONS. */
const FEATURES = 3;
const EDITION_PROTO2 = 998;
const EDITION_2024 = 1001;

function encodeResponse(content: { error: string } | { files: readonly OutputFile[] }): Uint8Array {
  const writer = new BinaryWriter();
  if ("error" in content) {
    writer.tag(1, WireType.LengthDelimited).string(content.error);
  }
  writer.tag(2, WireType.Varint).uint32(FEATURES);
  writer.tag(3, WireType.Varint).int32(EDITION_PROTO2);
  writer.tag(4, WireType.Varint).int32(EDITION_2024);
  for (const file of "files" in content ? content.files : []) {
    writer.tag(15, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(file.name);
    writer.tag(15, WireType.LengthDelimited).string(file.content);
    writer.join();
  }
  return writer.finish();
}
