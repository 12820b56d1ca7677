import { DescriptorError, type DescriptorFile } from "../api/descriptors/file-outline.ts";
import { compareDiagnostics } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import { type CheckResult, checkApi, type LocatedDiagnostic } from "../rules/check-api.ts";
import type { Rule } from "../rules/rule.ts";
import { DEFAULT_CONFIG, type Platform } from "./platform.ts";
import { type ReadApi, readApi } from "./read/read-api.ts";

/** What was read and what the rules say of it. */
export interface Judgement extends ReadApi {
  /** All findings, also those of the model, in the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** What the user should know of the run itself, one line each. */
  readonly notes: readonly string[];
}

/**
 * Reads descriptors and judges them.
 *
 * @param rules - those to run; all where absent
 * @throws UsageError where the descriptors cannot be read.
 */
export function judge(
  inputs: readonly (readonly DescriptorFile[])[],
  platform: Platform,
  rules?: readonly Rule[],
): Judgement {
  try {
    const read = readApi(inputs, platform.config);
    const checked = checkApi(read.api, read.locator, platform.modelOf, rules);
    const diagnostics = [...platform.modelDiagnostics, ...checked.diagnostics];
    return {
      ...read,
      diagnostics: diagnostics.sort(compareDiagnostics),
      notes: notesOf(platform, checked),
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
