import type { Api } from "../api/api.ts";
import { DescriptorError, type DescriptorFile } from "../api/descriptors/file-outline.ts";
import { eachRpc } from "../api/resolved-policy.ts";
import { compareDiagnostics } from "../diagnostics/diagnostic.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import type { BreakingRule } from "../rules/breaking/breaking-rule.ts";
import { findBreaking } from "../rules/breaking/index.ts";
import type { LocatedDiagnostic } from "../rules/check-api.ts";
import type { Platform } from "./platform.ts";
import { readApi } from "./read/read-api.ts";

/** The policies that have become weaker, and those that could not be compared. */
export interface BreakingResult {
  /** In the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** Notes for the user about the run itself, one line each. */
  readonly notes: readonly string[];
}

/**
 * Finds what has become weaker between two versions of the same files.
 *
 * @throws UsageError if the descriptors cannot be read
 */
export function checkBreaking(
  before: readonly DescriptorFile[],
  now: readonly DescriptorFile[],
  { config }: Platform,
  rules: readonly BreakingRule[],
): BreakingResult {
  try {
    const former = readApi([before], config);
    const { api, locator } = readApi([now], config);
    const diagnostics: LocatedDiagnostic[] = [];
    for (const { rule, finding } of findBreaking(former.api, api, rules)) {
      const { message, position } = finding;
      diagnostics.push({
        rule: rule.id,
        severity: "error",
        message,
        ...locator.locate(position),
      });
    }
    return { diagnostics: diagnostics.sort(compareDiagnostics), notes: notesOf(former.api) };
  } catch (error) {
    if (error instanceof DescriptorError) throw new UsageError(error.message);
    throw error;
  }
}

function notesOf({ services }: Api): readonly string[] {
  const unreadable = [...eachRpc(services)].filter(({ rpc }) => rpc.policyProblems !== undefined);
  const [first] = unreadable;
  if (first === undefined) return [];
  const { fullName, policyProblems = [] } = first.rpc;
  return [
    `the policies of ${unreadable.length} RPCs were not compared; for ${fullName}, in the former version, ${policyProblems[0]?.message}`,
  ];
}
