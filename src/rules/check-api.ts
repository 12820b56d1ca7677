import type { Api, DeployedService } from "../api/api.ts";
import type { Location, Locator } from "../api/descriptors/locator.ts";
import { compareDiagnostics, type Diagnostic, type Severity } from "../diagnostics/diagnostic.ts";
import type { Model } from "../model/index.ts";
import { RULES } from "./index.ts";
import type { ModelOf, Rule } from "./rule.ts";

/** A diagnostic with the place that it was resolved from. */
export interface LocatedDiagnostic extends Diagnostic {
  /** The descriptor path; absent for what stands outside protobuf files. */
  readonly path?: readonly number[];
}

/** What the rules found, and which of them could not run. */
export interface CheckResult {
  /** The findings, in the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** The ids of the rules that did not run for all services. */
  readonly skipped: readonly string[];
  /** The services that have no model, where others have one; for these the skipped rules did not run. */
  readonly withoutModel: readonly string[];
}

/**
 * Judges an `Api` by the rules.
 *
 * @param model - the model of all services, or that of each
 * @param rules - those to run; all where absent
 */
export function checkApi(
  api: Api,
  locator: Locator,
  model: Model | ModelOf | undefined,
  rules: readonly Rule[] = RULES,
): CheckResult {
  const modelOf = typeof model === "function" ? model : () => model;
  const none = api.services.length > 0 && api.services.every(({ name }) => !modelOf(name));
  const without = api.services.filter((service) => asksInVain(service, modelOf));
  const diagnostics: LocatedDiagnostic[] = [];
  const skipped: string[] = [];
  for (const rule of rules) {
    if (rule.needsModel === true) {
      // Where no RPC asks for a permission, nothing is missed: a model would have no use.
      if (without.length > 0) skipped.push(rule.id);
      if (none) continue;
    }
    for (const { message, position } of rule.check({ api, modelOf })) {
      // An error stops every generation, so no comment can silence it here.
      if (rule.category === "ACCESS_RECOMMENDED" && locator.isIgnored(position, rule.id)) continue;
      diagnostics.push(locate(rule, message, locator.locate(position)));
    }
  }
  return {
    diagnostics: diagnostics.sort(compareDiagnostics),
    skipped,
    withoutModel: none ? [] : without.map(({ name }) => name),
  };
}

/** Whether an RPC of a service is checked against a model that there is not. */
function asksInVain({ name, services }: DeployedService, modelOf: ModelOf): boolean {
  return (
    modelOf(name) === undefined &&
    services.some(({ rpcs }) => rpcs.some(({ policy }) => policy?.authz !== undefined))
  );
}

function locate(rule: Rule, message: string, location: Location): LocatedDiagnostic {
  return { rule: rule.id, severity: severityOf(rule), message, ...location };
}

/** How much the findings of a rule weigh. */
export function severityOf(rule: Rule): Severity {
  return rule.category === "ACCESS" ? "error" : "warning";
}
