import { DescriptorError, type DescriptorFile } from "../api/descriptors/file-outline.ts";
import { compareDiagnostics } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import { type CheckResult, checkApi, type LocatedDiagnostic } from "../rules/check-api.ts";
import type { Rule } from "../rules/rule.ts";
import { DEFAULT_CONFIG, type Platform } from "./platform.ts";
import { type ReadApi, readApi } from "./read/read-api.ts";

/** An `Api` and what the rules found in it. */
export interface CheckedApi extends ReadApi {
  /** All findings, including those of the models, in the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** Notes for the user about the run itself, one line each. */
  readonly notes: readonly string[];
}

/**
 * Reads descriptors and checks them against the rules.
 *
 * @param rules - the rules to run; the default is all
 * @param shownFile - how messages write the name of a file; the default is as the input names it
 * @throws UsageError if the descriptors cannot be read.
 */
export function readAndCheck(
  inputs: readonly (readonly DescriptorFile[])[],
  platform: Platform,
  rules?: readonly Rule[],
  shownFile?: (file: string) => string,
): CheckedApi {
  try {
    const read = readApi(inputs, platform.config);
    const result = checkApi(read.api, read.locator, platform.modelOf, rules, shownFile);
    const diagnostics = [...platform.modelDiagnostics, ...result.diagnostics];
    return {
      ...read,
      diagnostics: diagnostics.sort(compareDiagnostics),
      notes: notesOf(platform, result),
    };
  } catch (error) {
    if (error instanceof DescriptorError) throw new UsageError(error.message);
    throw error;
  }
}

function notesOf(platform: Platform, { skipped, withoutModel }: CheckResult): string[] {
  if (skipped.length === 0) return [];
  const only = withoutModel.length === 0 ? "" : ` for ${withoutModel.join(", ")}`;
  return [`${skipped.join(" and ")} did not run${only}: ${whyNot(platform, withoutModel)}`];
}

function whyNot({ modelDiagnostics, config }: Platform, withoutModel: readonly string[]): string {
  if (modelDiagnostics.length > 0) return "the model has errors";
  const [service] = withoutModel;
  const key = service === undefined ? "model:" : `model: or services.${service}.model:`;
  return `no model is configured; name one with ${key} in ${config?.file ?? DEFAULT_CONFIG}`;
}
