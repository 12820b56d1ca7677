import {
  type AuthorizationEngine,
  AuthzError,
  type CallOptions,
  type CheckRequest,
  type Explanation,
  type Precondition,
} from "svc-access/authz";
import { filterOf } from "./relationships.ts";
import type { RightsModel } from "./rights-model.ts";

/** Whether somebody holds a permission, and by what. */
export interface DecidedPath {
  readonly allowed: boolean;
  /** That the relationships which allow it are there when a write is made; in no certain order. */
  readonly preconditions: readonly Precondition[];
}

/**
 * Decides a check, with the relationships that allow it: as preconditions of a write, they keep a right that is
 * revoked between the decision and the write from counting.
 *
 * Some paths cannot be kept as a whole: those of a permission with `&`, `-` or `.all()`, and those that the engine
 * cannot explain or explains in part, since it would look through too much. They are decided once more, in the newest
 * state. So this is asked right before the write.
 *
 * @throws AuthzError if it is not known
 */
export async function decidePath(
  engine: Pick<AuthorizationEngine, "check" | "explain">,
  model: RightsModel,
  request: CheckRequest,
  options: CallOptions,
): Promise<DecidedPath> {
  let kept: KeptPath;
  try {
    const { allowed, explanation } = await engine.explain(request, options);
    if (!allowed) return { allowed, preconditions: [] };
    kept = keep(model, explanation);
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== "RESOURCE_EXHAUSTED") throw error;
    kept = { preconditions: [], isWhole: false };
  }
  const { preconditions, isWhole } = kept;
  if (isWhole) return { allowed: true, preconditions };
  const { signal } = options;
  const { allowed } = await engine.check(request, { newest: true, ...(signal && { signal }) });
  return { allowed, preconditions: allowed ? preconditions : [] };
}

/** Each of these preconditions once. */
export function unique(preconditions: readonly Precondition[]): readonly Precondition[] {
  return [...new Map(preconditions.map((one) => [JSON.stringify(one), one])).values()];
}

/** What keeps a path, and whether that is all of it. */
interface KeptPath {
  readonly preconditions: readonly Precondition[];
  readonly isWhole: boolean;
}

function keep(model: RightsModel, root: Explanation): KeptPath {
  const found: Precondition[] = [];
  // It is not where the engine's own decision and its explanation differ, as after a cycle.
  let isWhole = root.allowed;
  const left = [root];
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    const { relationship, resource, permission, kind } = step;
    const children = step.children.filter(({ allowed }) => allowed);
    if (!step.allowed) continue;
    if (relationship !== undefined)
      found.push({ kind: "MUST_MATCH", filter: filterOf(relationship) });
    for (const child of children) {
      left.push(child);
      if (kind === "arrow") found.push(arrowOf(model, step, child));
    }
    const isPlain = !model.isMixedPermission({ type: resource.type, relation: permission });
    isWhole &&= isPlain && (isLast(step) || children.length > 0);
  }
  return { preconditions: found, isWhole };
}

/** Whether an allowed step needs none below it. */
function isLast({ kind, relationship }: Explanation): boolean {
  const isDirect = relationship !== undefined && relationship.subject.relation === undefined;
  return kind === "self" || isDirect;
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
