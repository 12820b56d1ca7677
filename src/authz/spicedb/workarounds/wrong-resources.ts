import type { v1 } from "@authzed/authzed-node";
import type { Model } from "../../../model/index.ts";
import { memberSteps, reachableMembers } from "../../../model/schema/dependencies.ts";
import { type Expression, type ExpressionLeaf, visitLeaves } from "../../../model/schema/model.ts";
import type { CheckAnyRequest, CheckRequest } from "../../engine/requests.ts";
import { CHUNK } from "../client/check-calls.ts";
import { atExactly } from "../client/freshness.ts";
import type { SpicedbSession } from "../client/session.ts";
import { decodeSpicedbId } from "../client/spicedb-id.ts";
import { readStored } from "../client/stored-relationships.ts";
import { decide } from "./failed-bulk-checks.ts";

/** The operand that SpiceDB assumes to hold when it checks a resource of a lookup. */
interface Hint {
  readonly leaf: ExpressionLeaf;
  /** The other operands that the check evaluates, on which the decision depends. */
  readonly others: readonly ExpressionLeaf[];
}

const known = new WeakMap<Model, Map<string, boolean>>();

/**
 * Whether SpiceDB's lookup of the resources of a permission may return too few or too many.
 *
 * For SpiceDB 1.54. When a lookup reaches an intersection, an exclusion or `.all`, SpiceDB checks
 * its results with the hint that this one operand holds. If the check reaches the same operand of
 * another object of the type, as in `parent.all(view)` with `view = owner + parent->view`, it takes
 * the hint for the answer and ends the union there. Over `self` SpiceDB has no hint, and fails.
 */
export function lookupMayBeWrong(model: Model, type: string, permission: string): boolean {
  const answers = known.get(model) ?? new Map<string, boolean>();
  known.set(model, answers);
  const key = `${type}#${permission}`;
  const answer =
    answers.get(key) ??
    [...reachableMembers(model, type, permission)].some((member) => {
      const [type = "", name = ""] = member.split("#");
      const expression = model.definitions.get(type)?.permissions.get(name)?.expression;
      if (expression === undefined) return false;
      return hintsOf(expression).some((hint) => isMistaken(model, type, hint));
    });
  answers.set(key, answer);
  return answer;
}

/** The operands that SpiceDB checks a resource with: those that alone do not decide. */
function hintsOf(expression: Expression): Hint[] {
  let hasAll = false;
  visitLeaves(expression, (leaf) => {
    hasAll ||= leaf.kind === "arrow" && leaf.function === "all";
  });
  const hints: Hint[] = [];
  const visit = (part: Expression, others: readonly ExpressionLeaf[]) => {
    switch (part.kind) {
      case "union":
        // If one of these holds, it decides, regardless of the others.
        for (const operand of part.operands) visit(operand, others);
        return;
      case "intersection":
        for (const operand of part.operands) {
          const rest = part.operands.filter((other) => other !== operand);
          visit(operand, [...others, ...rest.flatMap(leavesOf)]);
        }
        return;
      case "exclusion":
        visit(part.base, [...others, ...leavesOf(part.subtracted)]);
        return;
      case "arrow":
        // A check of `.all` takes no hint, and so evaluates it itself.
        if (part.function === "all") hints.push({ leaf: part, others: [...others, part] });
        else if (others.length > 0) hints.push({ leaf: part, others });
        return;
      default:
        // What follows `.all` is checked as well.
        if (others.length > 0 || hasAll) hints.push({ leaf: part, others });
    }
  };
  visit(expression, []);
  return hints;
}

/** Whether the check with a hint reaches the same operand of another object of the type. */
function isMistaken(model: Model, type: string, { leaf, others }: Hint): boolean {
  if (leaf.kind === "nil") return false;
  if (leaf.kind === "self") return true;
  for (const { type: elsewhere, name } of othersReached(model, type, others)) {
    if (elsewhere !== type) continue;
    if (leaf.kind === "reference") {
      if (name === leaf.name) return true;
      continue;
    }
    const expression = model.definitions.get(type)?.permissions.get(name)?.expression;
    const same = (expression === undefined ? [] : leavesOf(expression)).some(
      (other) =>
        other.kind === "arrow" &&
        other.function === "any" &&
        other.relation === leaf.relation &&
        other.permission === leaf.permission,
    );
    if (same) return true;
  }
  return false;
}

/** The relations and permissions of other objects that operands of an object reach. */
function othersReached(
  model: Model,
  type: string,
  leaves: readonly ExpressionLeaf[],
): { type: string; name: string }[] {
  const reached = new Map<string, { type: string; name: string; isOther: boolean }>();
  const add = (type: string, name: string, isOther: boolean) =>
    reached.set(`${type}#${name} ${isOther}`, { type, name, isOther });
  for (const leaf of leaves) {
    if (leaf.kind === "reference") add(type, leaf.name, false);
    if (leaf.kind !== "arrow") continue;
    const subjects = model.definitions.get(type)?.relations.get(leaf.relation)?.subjects ?? [];
    for (const subject of subjects) add(subject.type, leaf.permission, true);
  }
  // Iterating a map includes entries that are added meanwhile.
  for (const { type, name, isOther } of reached.values()) {
    for (const { through, target } of memberSteps(model, type, name)) {
      add(target.type, target.name, isOther || through !== undefined);
    }
  }
  return [...reached.values()].filter(({ isOther }) => isOther);
}

function leavesOf(expression: Expression): ExpressionLeaf[] {
  const leaves: ExpressionLeaf[] = [];
  visitLeaves(expression, (leaf) => leaves.push(leaf));
  return leaves;
}

/** A resource that a subject holds a permission on. */
export interface FoundResource {
  readonly id: string;
  /** The state that it is of. */
  readonly readAt: v1.ZedToken | undefined;
}

/**
 * The resources of a type that a subject holds a permission on, by checking each that a
 * relationship names: a holder of a permission on an object is in one of its relationships, or is
 * the object.
 *
 * @param one whether one of them is enough
 */
export async function checkEachResource(
  session: SpicedbSession,
  { resourceType: type, permission, subject }: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  one: boolean,
): Promise<FoundResource[]> {
  const stored = await readStored(session, { resourceType: type }, consistency, signal);
  const ids = new Set(
    stored.map(({ relationship }) => decodeSpicedbId(relationship?.resource?.objectId ?? "")),
  );
  if (subject.type === type) ids.add(subject.id);
  const requests = [...ids].map(
    (id): CheckRequest => ({ resource: { type, id }, permission, subject }),
  );
  let readAt = stored[0]?.readAt;
  const found: FoundResource[] = [];
  for (let start = 0; start < requests.length; start += CHUNK) {
    const chunk = requests.slice(start, start + CHUNK);
    const at = readAt === undefined ? consistency : atExactly(readAt.token);
    const { items, zedToken } = await decide(session, chunk, at, signal);
    readAt ??= { token: zedToken };
    for (const [index, { allowed, error }] of items.entries()) {
      if (error !== undefined) throw error;
      const id = chunk[index]?.resource.id;
      if (allowed && id !== undefined) found.push({ id, readAt });
    }
    if (one && found.length > 0) break;
  }
  return found;
}
