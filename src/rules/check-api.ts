import type { Api } from "../api/api.ts";
import type { Location, Locator } from "../api/read/locator.ts";
import { compareDiagnostics, type Diagnostic, type Severity } from "../diagnostics/diagnostic.ts";
import type { Model } from "../model/index.ts";
import { RULES } from "./index.ts";
import type { Rule } from "./rule.ts";

/** A diagnostic with the place that it was resolved from. */
export interface LocatedDiagnostic extends Diagnostic {
  /** The descriptor path; absent for what stands outside protobuf files. */
  readonly path?: readonly number[];
}

/** What the rules found, and which of them could not run. */
export interface CheckResult {
  /** The findings, in the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** The ids of the rules that did not run, since no model is configured. */
  readonly skipped: readonly string[];
}

/**
 * Judges an `Api` by the rules.
 *
 * @param rules - those to run; all where absent
 */
export function checkApi(
  api: Api,
  locator: Locator,
  model: Model | undefined,
  rules: readonly Rule[] = RULES,
): CheckResult {
  const diagnostics: LocatedDiagnostic[] = [];
  const skipped: string[] = [];
  for (const rule of rules) {
    if (rule.needsModel === true && model === undefined) {
      skipped.push(rule.id);
      continue;
    }
    for (const { message, position } of rule.check({ api, model })) {
      // An error stops every generation, so no comment can silence it here.
      if (rule.category === "ACCESS_RECOMMENDED" && locator.isIgnored(position, rule.id)) continue;
      diagnostics.push(locate(rule, message, locator.locate(position)));
    }
  }
  return { diagnostics: diagnostics.sort(compareDiagnostics), skipped };
}

function locate(rule: Rule, message: string, location: Location): LocatedDiagnostic {
  const { file, line, column, path } = location;
  const severity = severityOf(rule);
  const known = line === undefined || column === undefined ? {} : { line, column };
  return {
    rule: rule.id,
    severity,
    message,
    file,
    ...known,
    ...(path === undefined ? {} : { path }),
  };
}

/** How much the findings of a rule weigh. */
export function severityOf(rule: Rule): Severity {
  return rule.category === "ACCESS" ? "error" : "warning";
}
