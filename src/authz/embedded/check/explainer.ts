import type { Expression, Model } from "../../../model/index.ts";
import type { ObjectReference, Relationship } from "../../../model/relationship.ts";
import type { CheckRequest, Explanation } from "../../engine/requests.ts";
import { findEdges } from "../graph/find-edges.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Checker } from "./checker.ts";
import { filterOf, StepDecisions } from "./step-decisions.ts";

/** The most steps of an explanation; those beyond are left out. */
export const MAX_STEPS = 1000;
/** The depth of an explanation; steps below it are decided, but not shown. */
export const MAX_DEPTH = 100;

/** The walk of one explanation. */
interface Walk {
  readonly request: CheckRequest;
  readonly decisions: StepDecisions;
  readonly path: Set<string>;
  steps: number;
}

type Step = Omit<Explanation, "resource" | "permission">;

/**
 * Explains checks in the terms of the model. The checker itself decides each step, so that an
 * explanation never differs from a check. The call stack is bounded by `MAX_DEPTH`.
 */
export class Explainer {
  readonly #model: Model;
  readonly #graph: RelationshipGraph;
  readonly #checker: Checker;

  constructor(model: Model, graph: RelationshipGraph, checker: Checker) {
    this.#model = model;
    this.#graph = graph;
    this.#checker = checker;
  }

  explain(request: CheckRequest): Explanation {
    const { resource, permission } = request;
    const decisions = new StepDecisions(this.#model, this.#graph, this.#checker, request);
    const walk: Walk = { request, decisions, path: new Set(), steps: 0 };
    return this.#member(walk, resource, permission);
  }

  #member(walk: Walk, resource: ObjectReference, name: string): Explanation {
    const key = `${resource.type}:${resource.id}#${name}`;
    walk.steps++;
    const as = (step: Step): Explanation => ({ resource, permission: name, ...step });
    const { type, id, relation } = walk.request.subject;
    // A userset is a member of itself, regardless of its relation or permission.
    if (type === resource.type && id === resource.id && relation === name) {
      return as({ kind: "self", allowed: true, children: [] });
    }
    if (walk.path.has(key)) return as({ kind: "cycle", allowed: false, children: [] });
    walk.path.add(key);
    const definition = this.#model.definitions.get(resource.type);
    const permission = definition?.permissions.get(name);
    const step =
      permission === undefined
        ? this.#relation(walk, resource, name)
        : this.#expression(walk, resource, name, permission.expression);
    walk.path.delete(key);
    return as(step);
  }

  #relation(walk: Walk, resource: ObjectReference, relation: string): Step {
    const { subject } = walk.request;
    const allowed = walk.decisions.holds(resource, relation);
    for (const id of subject.relation === undefined ? [subject.id, "*"] : [subject.id]) {
      const relationship: Relationship = { resource, relation, subject: { ...subject, id } };
      if (this.#graph.has(relationship)) {
        return { kind: "relation", allowed: true, relationship, children: [] };
      }
    }
    const children: Explanation[] = [];
    for (const edge of findEdges(this.#graph, filterOf(resource, relation))) {
      if (this.#isFull(walk)) break;
      walk.decisions.read();
      const relationship = this.#graph.relationshipOf(edge);
      const userset = relationship.subject;
      if (userset.relation === undefined) continue;
      if (allowed && !walk.decisions.holds(userset, userset.relation)) continue;
      const child = this.#member(walk, { type: userset.type, id: userset.id }, userset.relation);
      if (allowed) return { kind: "relation", allowed, relationship, children: [child] };
      children.push(child);
    }
    return { kind: "relation", allowed, children };
  }

  #expression(walk: Walk, resource: ObjectReference, name: string, expression: Expression): Step {
    const allowed = walk.decisions.decide(resource, expression);
    switch (expression.kind) {
      case "nil":
      case "self":
        return { kind: expression.kind, allowed, children: [] };
      case "reference":
        return {
          kind: "union",
          allowed,
          children: [this.#member(walk, resource, expression.name)],
        };
      case "arrow":
        return this.#arrow(walk, resource, expression, allowed);
    }
    const operands =
      expression.kind === "exclusion"
        ? [expression.base, expression.subtracted]
        : expression.operands;
    const children: Explanation[] = [];
    for (const operand of operands) {
      if (this.#isFull(walk)) break;
      // For a union that allows, the deciding operand is enough; the other cases need all operands.
      const decides = expression.kind === "union" && allowed;
      if (decides && !walk.decisions.decide(resource, operand)) continue;
      children.push(this.#operand(walk, resource, name, operand));
      if (decides) break;
    }
    return { kind: expression.kind, allowed, children };
  }

  #operand(walk: Walk, resource: ObjectReference, name: string, operand: Expression): Explanation {
    if (operand.kind === "reference") return this.#member(walk, resource, operand.name);
    walk.steps++;
    return { resource, permission: name, ...this.#expression(walk, resource, name, operand) };
  }

  #arrow(
    walk: Walk,
    resource: ObjectReference,
    arrow: Extract<Expression, { kind: "arrow" }>,
    allowed: boolean,
  ): Step {
    const children: Explanation[] = [];
    const oneDecides = allowed === (arrow.function === "any");
    for (const related of walk.decisions.related(resource, arrow.relation)) {
      if (this.#isFull(walk)) break;
      const has = walk.decisions.hasMember(related, arrow.permission);
      if (oneDecides && (has && walk.decisions.holds(related, arrow.permission)) !== allowed)
        continue;
      children.push(
        has
          ? this.#member(walk, related, arrow.permission)
          : {
              resource: related,
              permission: arrow.permission,
              kind: "nil",
              allowed: false,
              children: [],
            },
      );
      if (oneDecides) break;
    }
    return { kind: "arrow", allowed, children };
  }

  #isFull({ steps, path }: Walk): boolean {
    return steps >= MAX_STEPS || path.size >= MAX_DEPTH;
  }
}
