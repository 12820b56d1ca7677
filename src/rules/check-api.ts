import type { Api, DeployedService } from "../api/api.ts";
import type { Location, Locator } from "../api/descriptors/locator.ts";
import type { Position } from "../api/position.ts";
import {
  compareDiagnostics,
  type Diagnostic,
  placeText,
  type Severity,
} from "../diagnostics/diagnostic.ts";
import type { Model } from "../model/index.ts";
import { RULES } from "./index.ts";
import type { ModelOf, Rule } from "./rule.ts";

/** A diagnostic with its descriptor path. */
export interface LocatedDiagnostic extends Diagnostic {
  /** The descriptor path; absent for a finding outside protobuf files. */
  readonly path?: readonly number[];
}

/** The findings of the rules, and the rules that could not run. */
export interface CheckResult {
  /** The findings, in the order of the files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** The ids of the rules that did not run for all services. */
  readonly skipped: readonly string[];
  /** The services for which the skipped rules did not run, as they have no model; empty if no service has one. */
  readonly withoutModel: readonly string[];
}

/**
 * Checks an `Api` against the rules.
 *
 * @param model - the model of all services, or a function that finds the model of each
 * @param rules - the rules to run; the default is all
 * @param shownFile - how messages write the name of a file; the default is as the input names it
 */
export function checkApi(
  api: Api,
  locator: Locator,
  model: Model | ModelOf | undefined,
  rules: readonly Rule[] = RULES,
  shownFile: (file: string) => string = (file) => file,
): CheckResult {
  const placeOf = (position: Position) => {
    const location = locator.locate(position);
    return placeText({ ...location, file: shownFile(location.file) });
  };
  const modelOf = typeof model === "function" ? model : () => model;
  const none = api.services.length > 0 && api.services.every(({ name }) => !modelOf(name));
  const without = api.services.filter((service) => lacksModel(service, modelOf));
  const diagnostics: LocatedDiagnostic[] = [];
  const skipped: string[] = [];
  for (const rule of rules) {
    if (rule.needsModel === true) {
      // A service without a permission to check needs no model, so nothing is skipped there.
      if (without.length > 0) skipped.push(rule.id);
      if (none) continue;
    }
    for (const { message, position } of rule.check({ api, modelOf, placeOf })) {
      // Errors stop generation, so a comment cannot suppress them.
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

/** Whether a service has RPCs with a permission, but no model to check them against. */
function lacksModel({ name, services }: DeployedService, modelOf: ModelOf): boolean {
  return (
    modelOf(name) === undefined &&
    services.some(({ rpcs }) => rpcs.some(({ policy }) => policy?.authz !== undefined))
  );
}

function locate(rule: Rule, message: string, location: Location): LocatedDiagnostic {
  return { rule: rule.id, severity: severityOf(rule), message, ...location };
}

/** The severity of the findings of a rule. */
export function severityOf(rule: Rule): Severity {
  return rule.category === "ACCESS" ? "error" : "warning";
}
