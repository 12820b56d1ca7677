import type { AccessPolicy } from "../../api/format.ts";
import type { Model } from "../../model/index.ts";
import { type BoundMethod, streamsRequest } from "../binding/bound-method.ts";
import { type ResourceId, resourceId } from "../resource/resource-id.ts";

/** What must be checked before a method is called; computed once. */
export interface AuthorizationPlan {
  readonly exposure: AccessPolicy["exposure"];
  /** Of AUTHORIZED only. */
  readonly check: PlannedCheck | undefined;
}

/** The check of an AUTHORIZED method. */
export interface PlannedCheck {
  readonly action: string;
  readonly audience: string;
  readonly type: string;
  /** Renders the object's id; absent if any object of the type suffices. */
  readonly id: ResourceId | undefined;
}

/** Makes the plan of a method. @throws Error that says why its policy can never be evaluated */
export function planAuthorization(method: BoundMethod): AuthorizationPlan {
  const { exposure, authz } = method.policy;
  if (exposure !== "AUTHORIZED") return { exposure, check: undefined };
  if (authz === undefined) throw new Error("it is AUTHORIZED but has no authz");
  const { action, audience, resource } = authz;
  // No single message of a stream identifies the object.
  const input = streamsRequest(method.kind) ? undefined : method.descriptor?.input;
  const id = resourceId(resource, input);
  return { exposure, check: { action, audience, type: resource.type, id } };
}

/**
 * Finds the policies that could never be evaluated, so that the server does not
 * start with one.
 *
 * @param model the authorization model; absent if nothing is checked
 * @returns the problems, one line each
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
