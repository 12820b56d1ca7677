import type { Expression, Model } from "../../../model/index.ts";
import type { ObjectReference, RelationshipFilter } from "../../../model/relationship.ts";
import { hasMember } from "../../../model/schema/dependencies.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { CheckRequest } from "../../engine/requests.ts";
import { findEdges } from "../graph/find-edges.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import { NO_MEMBER } from "../program/program.ts";
import { type CheckSubject, checkSubject } from "./check-subject.ts";
import type { Checker } from "./checker.ts";

/** The most steps of the checks of an explanation, which are made without a pause. */
const MAX_CHECK_STEPS = 5_000_000;
/** How many of them take as long as to begin a check. */
const CHECK_STEPS = 100;
/** How many take as long as to read a relationship. */
const READ_STEPS = 150;

/** Decides the steps of one explanation, with the checker itself. */
export class StepDecisions {
  readonly #model: Model;
  readonly #graph: RelationshipGraph;
  readonly #checker: Checker;
  readonly #request: CheckRequest;
  readonly #subject: CheckSubject;
  /** What the checks took. */
  #steps = 0;

  constructor(model: Model, graph: RelationshipGraph, checker: Checker, request: CheckRequest) {
    this.#model = model;
    this.#graph = graph;
    this.#checker = checker;
    this.#request = request;
    this.#subject = checkSubject(graph, request.subject, request.resource);
  }

  /** Decides an expression from the checks of its leaves. */
  decide(resource: ObjectReference, expression: Expression): boolean {
    const decide = (operand: Expression) => this.decide(resource, operand);
    switch (expression.kind) {
      case "nil":
        return false;
      case "self": {
        const { type, id, relation } = this.#request.subject;
        return type === resource.type && id === resource.id && relation === undefined;
      }
      case "reference":
        return this.holds(resource, expression.name);
      case "union":
        return expression.operands.some(decide);
      case "intersection":
        return expression.operands.every(decide);
      case "exclusion":
        return decide(expression.base) && !decide(expression.subtracted);
      case "arrow": {
        const related = [...this.related(resource, expression.relation)];
        const grants = (object: ObjectReference) =>
          this.hasMember(object, expression.permission) &&
          this.holds(object, expression.permission);
        if (expression.function === "any") return related.some(grants);
        return related.length > 0 && related.every(grants);
      }
    }
  }

  /** The objects that a relation of an object names. */
  *related(resource: ObjectReference, relation: string): Generator<ObjectReference> {
    for (const edge of findEdges(this.#graph, filterOf(resource, relation))) {
      this.read();
      const { type, id } = this.#graph.relationshipOf(edge).subject;
      yield { type, id };
    }
  }

  /** Whether the type of an object has a relation or permission. */
  hasMember({ type }: ObjectReference, name: string): boolean {
    return hasMember(this.#model, type, name);
  }

  /** Whether the subject holds a relation or permission of an object. */
  holds({ type, id }: ObjectReference, name: string): boolean {
    const { typeIds, memberIds } = this.#graph.program;
    const node = memberIds[typeIds.get(type) as number]?.get(name) ?? NO_MEMBER;
    const holds = this.#checker.check(this.#graph.findObject(type, id), node, this.#subject);
    this.#count(this.#checker.steps + CHECK_STEPS);
    return holds;
  }

  /** Counts a relationship that is read. @throws AuthzError RESOURCE_EXHAUSTED if there are too many */
  read(): void {
    this.#count(READ_STEPS);
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps <= MAX_CHECK_STEPS) return;
    throw new AuthzError(
      "RESOURCE_EXHAUSTED",
      `the explanation took more than ${MAX_CHECK_STEPS} steps`,
    );
  }
}

/** The filter of the relationships of a relation of an object. */
export function filterOf({ type, id }: ObjectReference, relation: string): RelationshipFilter {
  return { resourceType: type, resourceId: id, relation };
}
