import type { Expression, Model } from "../../model/index.ts";
import { AuthzError } from "../authz-error.ts";
import type { CheckRequest, Explanation } from "../engine.ts";
import type { ObjectReference, Relationship } from "../relationship.ts";
import { type CheckSubject, checkSubject } from "./check-subject.ts";
import type { Checker } from "./checker.ts";
import { findEdges } from "./find-edges.ts";
import { NO_MEMBER } from "./no-member.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

/** The most steps of an explanation; those beyond are left out. */
export const MAX_STEPS = 1000;
/** How deep an explanation goes; what is below is decided, and not shown. */
export const MAX_DEPTH = 100;

/** The most steps of the checks behind an explanation, which are made without a pause. */
const MAX_CHECK_STEPS = 5_000_000;

/** One explanation that is being made. */
interface Making {
  readonly request: CheckRequest;
  readonly subject: CheckSubject;
  readonly path: Set<string>;
  steps: number;
  /** What the checks behind it took. */
  checkSteps: number;
}

type Step = Omit<Explanation, "resource" | "permission">;

/**
 * Explains checks in the terms of the model. Each step is decided by the
 * checker itself, so that an explanation never tells other than a check. The
 * call stack is bounded by `MAX_DEPTH`.
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
    const { resource, permission, subject } = request;
    const making: Making = {
      request,
      subject: checkSubject(this.#graph, subject, resource),
      path: new Set(),
      steps: 0,
      checkSteps: 0,
    };
    return this.#member(making, resource, permission);
  }

  #member(making: Making, resource: ObjectReference, name: string): Explanation {
    const key = `${resource.type}:${resource.id}#${name}`;
    making.steps++;
    const as = (step: Step): Explanation => ({ resource, permission: name, ...step });
    const { type, id, relation } = making.request.subject;
    // A userset is a member of itself, whatever its relation or permission says.
    if (type === resource.type && id === resource.id && relation === name) {
      return as({ kind: "self", allowed: true, children: [] });
    }
    if (making.path.has(key)) return as({ kind: "cycle", allowed: false, children: [] });
    making.path.add(key);
    const definition = this.#model.definitions.get(resource.type);
    const permission = definition?.permissions.get(name);
    const step =
      permission === undefined
        ? this.#relation(making, resource, name)
        : this.#expression(making, resource, name, permission.expression);
    making.path.delete(key);
    return as(step);
  }

  #relation(making: Making, resource: ObjectReference, relation: string): Step {
    const { subject } = making.request;
    const allowed = this.#holds(making, resource, relation);
    for (const id of subject.relation === undefined ? [subject.id, "*"] : [subject.id]) {
      const relationship: Relationship = { resource, relation, subject: { ...subject, id } };
      if (this.#graph.has(relationship)) {
        return { kind: "relation", allowed: true, relationship, children: [] };
      }
    }
    const children: Explanation[] = [];
    for (const edge of findEdges(this.#graph, filterOf(resource, relation))) {
      if (this.#isFull(making)) break;
      const relationship = this.#graph.relationshipOf(edge);
      const userset = relationship.subject;
      if (userset.relation === undefined) continue;
      if (allowed && !this.#holds(making, userset, userset.relation)) continue;
      const child = this.#member(making, { type: userset.type, id: userset.id }, userset.relation);
      if (allowed) return { kind: "relation", allowed, relationship, children: [child] };
      children.push(child);
    }
    return { kind: "relation", allowed, children };
  }

  #expression(
    making: Making,
    resource: ObjectReference,
    name: string,
    expression: Expression,
  ): Step {
    const allowed = this.#decide(making, resource, expression);
    switch (expression.kind) {
      case "nil":
      case "self":
        return { kind: expression.kind, allowed, children: [] };
      case "reference":
        return {
          kind: "union",
          allowed,
          children: [this.#member(making, resource, expression.name)],
        };
      case "arrow":
        return this.#arrow(making, resource, expression, allowed);
    }
    const operands =
      expression.kind === "exclusion"
        ? [expression.base, expression.subtracted]
        : expression.operands;
    const children: Explanation[] = [];
    for (const operand of operands) {
      if (this.#isFull(making)) break;
      // Of a union that allows, the operand that decides is enough; the others need all.
      const decides = expression.kind === "union" && allowed;
      if (decides && !this.#decide(making, resource, operand)) continue;
      children.push(this.#operand(making, resource, name, operand));
      if (decides) break;
    }
    return { kind: expression.kind, allowed, children };
  }

  #operand(
    making: Making,
    resource: ObjectReference,
    name: string,
    operand: Expression,
  ): Explanation {
    if (operand.kind === "reference") return this.#member(making, resource, operand.name);
    making.steps++;
    return { resource, permission: name, ...this.#expression(making, resource, name, operand) };
  }

  #arrow(
    making: Making,
    resource: ObjectReference,
    arrow: Extract<Expression, { kind: "arrow" }>,
    allowed: boolean,
  ): Step {
    const children: Explanation[] = [];
    const oneDecides = allowed === (arrow.function === "any");
    for (const related of this.#related(resource, arrow.relation)) {
      if (this.#isFull(making)) break;
      const has = this.#hasMember(related, arrow.permission);
      if (oneDecides && (has && this.#holds(making, related, arrow.permission)) !== allowed)
        continue;
      children.push(
        has
          ? this.#member(making, related, arrow.permission)
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

  #isFull({ steps, path }: Making): boolean {
    return steps >= MAX_STEPS || path.size >= MAX_DEPTH;
  }

  /** Decides an expression from the checks of its leaves. */
  #decide(making: Making, resource: ObjectReference, expression: Expression): boolean {
    const decide = (operand: Expression) => this.#decide(making, resource, operand);
    switch (expression.kind) {
      case "nil":
        return false;
      case "self": {
        const { type, id, relation } = making.request.subject;
        return type === resource.type && id === resource.id && relation === undefined;
      }
      case "reference":
        return this.#holds(making, resource, expression.name);
      case "union":
        return expression.operands.some(decide);
      case "intersection":
        return expression.operands.every(decide);
      case "exclusion":
        return decide(expression.base) && !decide(expression.subtracted);
      case "arrow": {
        const related = [...this.#related(resource, expression.relation)];
        const grants = (object: ObjectReference) =>
          this.#hasMember(object, expression.permission) &&
          this.#holds(making, object, expression.permission);
        if (expression.function === "any") return related.some(grants);
        return related.length > 0 && related.every(grants);
      }
    }
  }

  *#related(resource: ObjectReference, relation: string): Generator<ObjectReference> {
    for (const edge of findEdges(this.#graph, filterOf(resource, relation))) {
      const { type, id } = this.#graph.relationshipOf(edge).subject;
      yield { type, id };
    }
  }

  #hasMember({ type }: ObjectReference, name: string): boolean {
    const definition = this.#model.definitions.get(type);
    return definition?.relations.has(name) === true || definition?.permissions.has(name) === true;
  }

  #holds(making: Making, { type, id }: ObjectReference, name: string): boolean {
    const { typeIds, memberIds } = this.#graph.program;
    const node = memberIds[typeIds.get(type) as number]?.get(name) ?? NO_MEMBER;
    const holds = this.#checker.check(this.#graph.findObject(type, id), node, making.subject);
    making.checkSteps += this.#checker.steps + 1;
    if (making.checkSteps > MAX_CHECK_STEPS) {
      throw new AuthzError(
        "RESOURCE_EXHAUSTED",
        `the explanation took more than ${MAX_CHECK_STEPS} steps`,
      );
    }
    return holds;
  }
}

function filterOf({ type, id }: ObjectReference, relation: string) {
  return { resourceType: type, resourceId: id, relation };
}
