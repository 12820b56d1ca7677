import { DescriptorError } from "../api/descriptors/file-outline.ts";
import { printable } from "../common/printable.ts";
import { readStandardInput, writeStandardOutput } from "../common/standard-streams.ts";
import { checkBreaking } from "../compiler/check-breaking.ts";
import { modulePaths } from "../compiler/module-paths.ts";
import { loadPlatform } from "../compiler/platform.ts";
import { readAndCheck } from "../compiler/read-and-check.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { BreakingRule } from "../rules/breaking/breaking-rule.ts";
import { BREAKING_RULES } from "../rules/breaking/index.ts";
import type { LocatedDiagnostic } from "../rules/check-api.ts";
import { RULES } from "../rules/index.ts";
import type { Rule } from "../rules/rule.ts";
import {
  type CheckAnnotation,
  type CheckRequest,
  CODE,
  encodeCheckResponse,
  encodeError,
  readCheckRequest,
} from "./check-messages.ts";

const OPTIONS = ["config", "model"];

/**
 * Answers the request on standard input on standard output.
 *
 * @returns whether it could be checked
 */
export async function answerStandardInput(): Promise<boolean> {
  const { response, notes, isChecked } = await answerCheck(readStandardInput(), process.cwd());
  for (const note of notes) process.stderr.write(`svc-access: ${printable(note)}\n`);
  writeStandardOutput(response);
  return isChecked;
}

/**
 * Answers `/buf.plugin.check.v1.CheckService/Check`.
 *
 * @param request - an encoded `pluginrpc.v1.Request`; empty bytes are valid
 * @param folder - the working directory, the base of relative paths
 * @returns an encoded `pluginrpc.v1.Response`, lines for standard error, and whether the request could be checked
 */
export async function answerCheck(
  request: Uint8Array,
  folder: string,
): Promise<{ response: Uint8Array; notes: readonly string[]; isChecked: boolean }> {
  try {
    const check = readRequest(request);
    const platform = await loadPlatform({ ...readOptions(check.options), folders: [folder] });
    if (platform.modelDiagnostics.length > 0) {
      const lines = platform.modelDiagnostics.map(
        ({ file, line, column, message, rule }) =>
          `${file}:${line}:${column}: ${message} (${rule})`,
      );
      throw new UsageError(lines);
    }
    const { lint, breaking } = rulesOf(check);
    const results = [
      ...(lint.length > 0
        ? [readAndCheck([check.files], platform, lint, modulePaths(folder))]
        : []),
      ...(breaking.length > 0
        ? [checkBreaking(check.against, check.files, platform, breaking)]
        : []),
    ];
    const annotations = results.flatMap(({ diagnostics }) => diagnostics.map(annotationOf));
    const notes = results.flatMap((result) => result.notes);
    return { response: encodeCheckResponse(annotations), notes, isChecked: true };
  } catch (error) {
    if (error instanceof UsageError || error instanceof DescriptorError) {
      const text = error instanceof UsageError ? error.message : printable(error.message);
      return { response: encodeError(CODE.invalidArgument, text), notes: [], isChecked: false };
    }
    const { message } = error as Error;
    return {
      response: encodeError(CODE.internal, printable(`internal error: ${message}`)),
      notes: [],
      isChecked: false,
    };
  }
}

function readRequest(request: Uint8Array): CheckRequest {
  try {
    return readCheckRequest(request);
  } catch (error) {
    throw new UsageError(`standard input is not a check request: ${(error as Error).message}`);
  }
}

function readOptions(options: ReadonlyMap<string, unknown>): { config?: string; model?: string } {
  const read: { config?: string; model?: string } = {};
  for (const [key, value] of options) {
    if (key !== "config" && key !== "model") {
      const hint = didYouMean(key, OPTIONS) || `; the options are ${OPTIONS.join(", ")}`;
      throw new UsageError(`unknown option "${key}" of buf-plugin-svc-access in buf.yaml${hint}`);
    }
    if (typeof value !== "string" || value === "") {
      throw new UsageError(`option "${key}" of buf-plugin-svc-access in buf.yaml must be a path`);
    }
    read[key] = value;
  }
  return read;
}

/** The rules of one request: buf runs lint and breaking rules in separate requests. */
interface WantedRules {
  readonly lint: readonly Rule[];
  readonly breaking: readonly BreakingRule[];
}

/** buf filters findings itself, but names the rules that it wants; without names, the default rules run. */
function rulesOf({ ruleIds, against }: CheckRequest): WantedRules {
  if (ruleIds.length === 0) {
    const lint = RULES.filter(({ category }) => category === "ACCESS");
    return against.length > 0 ? { lint: [], breaking: BREAKING_RULES } : { lint, breaking: [] };
  }
  const known = new Set([...RULES, ...BREAKING_RULES].map(({ id }) => id));
  for (const id of ruleIds) {
    if (!known.has(id)) throw new UsageError(`unknown rule ${id}${didYouMean(id, known)}`);
  }
  const isWanted = ({ id }: { readonly id: string }) => ruleIds.includes(id);
  return { lint: RULES.filter(isWanted), breaking: BREAKING_RULES.filter(isWanted) };
}

function annotationOf(diagnostic: LocatedDiagnostic): CheckAnnotation {
  const { rule, file, path, line, column } = diagnostic;
  // The text format of buf does not print the rule, which users need to ignore or except it.
  const message = `${diagnostic.message} (${rule})`;
  if (path === undefined) {
    // buf shows positions in protobuf files only; any other position goes into the text.
    return { ruleId: rule, message: `${file}:${line}:${column}: ${message}` };
  }
  return { ruleId: rule, message, location: { file, path } };
}
