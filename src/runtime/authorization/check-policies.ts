import type { Model } from "../../model/index.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import { planAuthorization } from "./authorization-plan.ts";

/**
 * Finds the policies that could never be evaluated, so that the server does not
 * start with one.
 *
 * @param model the authorization model; absent where nothing is checked
 * @returns what is wrong, a line each
 */
export function checkPolicies(
  methods: readonly BoundMethod[],
  model: Model | undefined,
): readonly string[] {
  return methods.flatMap((method) => {
    const problems = [planProblem(method), ...modelProblems(method, model)];
    return problems
      .filter((problem) => problem !== undefined)
      .map((problem) => `${method.rpc} could never be authorized: ${problem}`);
  });
}

function planProblem(method: BoundMethod): string | undefined {
  try {
    planAuthorization(method);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function modelProblems({ policy }: BoundMethod, model: Model | undefined): (string | undefined)[] {
  if (model === undefined || policy.authz === undefined) return [];
  const { action, audience, resource } = policy.authz;
  const definition = model.definitions.get(resource.type);
  return [
    definition === undefined
      ? `the model defines no type "${resource.type}"`
      : definition.permissions.has(action)
        ? undefined
        : `the type "${resource.type}" of the model has no permission "${action}"`,
    model.definitions.has(audience) ? undefined : `the model defines no subject type "${audience}"`,
  ];
}
