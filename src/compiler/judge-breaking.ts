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

/** What has become weaker, and what could not be compared. */
export interface BreakingJudgement {
  /** In the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** What the user should know of the run itself, one line each. */
  readonly notes: readonly string[];
}

/**
 * Judges what has become weaker between two versions of the same files.
 *
 * @throws UsageError where the descriptors cannot be read
 */
export function judgeBreaking(
  before: readonly DescriptorFile[],
  now: readonly DescriptorFile[],
  { config }: Platform,
  rules: readonly BreakingRule[],
): BreakingJudgement {
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
  const disbelieved = [...eachRpc(services)].filter(({ rpc }) => rpc.policyProblems !== undefined);
  const [first] = disbelieved;
  if (first === undefined) return [];
  const { fullName, policyProblems = [] } = first.rpc;
  return [
    `the policies of ${disbelieved.length} RPCs were not compared, such as that of ${fullName}: in the version that is compared with, ${policyProblems[0]?.message}`,
  ];
}
