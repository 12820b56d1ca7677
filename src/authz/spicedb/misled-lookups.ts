import { type Expression, type ExpressionLeaf, visitLeaves } from "../../model/expression.ts";
import type { Model } from "../../model/index.ts";
import { memberSteps, reachableMembers } from "./member-steps.ts";

/** What SpiceDB has found to hold already, when it checks a resource of a lookup. */
interface Hint {
  readonly leaf: ExpressionLeaf;
  /** What the check evaluates besides, and what the decision depends on. */
  readonly others: readonly ExpressionLeaf[];
}

const known = new WeakMap<Model, Map<string, boolean>>();

/**
 * Whether SpiceDB (1.54) may look up wrong resources of a permission, too few or too many.
 *
 * Where a lookup comes to an intersection, an exclusion or `.all`, SpiceDB checks what it found, and
 * takes with it the hint that this one operand holds. Where that check comes to the same operand of
 * another object of the type, as in `parent.all(view)` with `view = owner + parent->view`, the hint
 * is taken for its answer and ends the union there. Over `self` SpiceDB has no hint, and fails.
 */
export function mayMislead(model: Model, type: string, permission: string): boolean {
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
        // One of these that holds decides, whatever the others are.
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

/** Whether the check with a hint comes to the same operand of another object of the type. */
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

/** The relations and permissions of other objects that operands of an object come to. */
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
  // A map yields what is added while it is read.
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
