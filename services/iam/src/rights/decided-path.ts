import {
  type AuthorizationEngine,
  AuthzError,
  type CallOptions,
  type CheckRequest,
  type Explanation,
  type Precondition,
} from "svc-access/authz";
import { filterOf } from "./relationship-filter.ts";
import type { RightsModel } from "./rights-model.ts";

/** Whether somebody holds a permission, and by what. */
export interface DecidedPath {
  readonly allowed: boolean;
  /** That the relationships which allow it are there when a write is made; in no certain order. */
  readonly preconditions: readonly Precondition[];
}

/**
 * Decides a check, with the relationships that allow it: as preconditions of a write, they keep a right that is
 * revoked between the decision and the write from counting. What a `-` subtracts is not among them.
 *
 * A path that the engine cannot explain, since it would look through too much, is decided without preconditions.
 *
 * @throws AuthzError if it is not known
 */
export async function decidePath(
  engine: Pick<AuthorizationEngine, "check" | "explain">,
  model: RightsModel,
  request: CheckRequest,
  options: CallOptions,
): Promise<DecidedPath> {
  try {
    const { allowed, explanation } = await engine.explain(request, options);
    return { allowed, preconditions: allowed ? preconditionsOf(model, explanation) : [] };
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== "RESOURCE_EXHAUSTED") throw error;
    const { allowed } = await engine.check(request, options);
    return { allowed, preconditions: [] };
  }
}

/** Each of these preconditions once. */
export function unique(preconditions: readonly Precondition[]): readonly Precondition[] {
  return [...new Map(preconditions.map((one) => [JSON.stringify(one), one])).values()];
}

function preconditionsOf(model: RightsModel, root: Explanation): readonly Precondition[] {
  const found: Precondition[] = [];
  const left = [root];
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    if (!step.allowed) continue;
    const { relationship, children } = step;
    if (relationship !== undefined)
      found.push({ kind: "MUST_MATCH", filter: filterOf(relationship) });
    for (const child of children) {
      left.push(child);
      if (step.kind === "arrow" && child.allowed) found.push(arrowOf(model, step, child));
    }
  }
  return found;
}

/** That an object still leads to the next one of the path. */
function arrowOf(model: RightsModel, from: Explanation, to: Explanation): Precondition {
  const { type, id } = from.resource;
  const relations = model.arrows({ type, relation: from.permission }, to.resource.type);
  const [relation] = relations;
  return {
    kind: "MUST_MATCH",
    filter: {
      resourceType: type,
      resourceId: id,
      // Any of them, if there are several.
      ...(relations.length === 1 && relation !== undefined ? { relation } : {}),
      subject: { type: to.resource.type, id: to.resource.id },
    },
  };
}
