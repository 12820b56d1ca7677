import type { Expression, Model } from "../../../src/model/index.ts";
import type {
  ObjectReference,
  Relationship,
  SubjectReference,
} from "../../../src/model/relationship.ts";

/** The semantics in the simplest form: strings, recursion and no index. */
export class Oracle {
  readonly relationships = new Map<string, Relationship>();
  readonly #model: Model;

  constructor(model: Model) {
    this.#model = model;
  }

  check(resource: ObjectReference, name: string, subject: SubjectReference): boolean {
    return this.#holds(resource, name, subject, new Set());
  }

  #holds(on: ObjectReference, name: string, who: SubjectReference, path: Set<string>): boolean {
    if (who.type === on.type && who.id === on.id && who.relation === name) return true;
    const key = `${on.type}:${on.id}#${name}`;
    if (path.has(key)) return false;
    const below = new Set([...path, key]);
    const permission = this.#model.definitions.get(on.type)?.permissions.get(name);
    if (permission) return this.#evaluate(on, permission.expression, who, below);
    return this.#subjects(on, name).some((subject) => {
      const { type, id, relation } = subject;
      if (type === who.type && id === who.id && relation === who.relation) return true;
      if (id === "*") return type === who.type && who.relation === undefined;
      return relation !== undefined && this.#holds({ type, id }, relation, who, below);
    });
  }

  #evaluate(
    on: ObjectReference,
    expression: Expression,
    who: SubjectReference,
    path: Set<string>,
  ): boolean {
    const evaluate = (operand: Expression) => this.#evaluate(on, operand, who, path);
    switch (expression.kind) {
      case "nil":
        return false;
      case "self":
        return who.type === on.type && who.id === on.id && who.relation === undefined;
      case "reference":
        return this.#holds(on, expression.name, who, path);
      case "union":
        return expression.operands.some(evaluate);
      case "intersection":
        return expression.operands.every(evaluate);
      case "exclusion":
        return evaluate(expression.base) && !evaluate(expression.subtracted);
      case "arrow": {
        const related = this.#subjects(on, expression.relation);
        const grants = ({ type, id }: SubjectReference) =>
          this.#has(type, expression.permission) &&
          this.#holds({ type, id }, expression.permission, who, path);
        if (expression.function === "any") return related.some(grants);
        return related.length > 0 && related.every(grants);
      }
    }
  }

  /** Whether the relationships have a cycle. */
  hasCycle(): boolean {
    const open = new Set<string>();
    const done = new Set<string>();
    const visit = (on: ObjectReference, name: string): boolean => {
      const key = `${on.type}:${on.id}#${name}`;
      if (open.has(key)) return true;
      if (done.has(key)) return false;
      open.add(key);
      const found = this.#computedFrom(on, name).some(([next, member]) => visit(next, member));
      open.delete(key);
      done.add(key);
      return found;
    };
    return [...this.relationships.values()].some(({ resource }) => {
      const definition = this.#model.definitions.get(resource.type);
      const members = [
        ...(definition?.relations.keys() ?? []),
        ...(definition?.permissions.keys() ?? []),
      ];
      return members.some((name) => visit(resource, name));
    });
  }

  #computedFrom(on: ObjectReference, name: string): [ObjectReference, string][] {
    const permission = this.#model.definitions.get(on.type)?.permissions.get(name);
    if (!permission) {
      return this.#subjects(on, name).flatMap(({ type, id, relation }) =>
        relation === undefined ? [] : [[{ type, id }, relation]],
      );
    }
    const leaves = (expression: Expression): [ObjectReference, string][] => {
      switch (expression.kind) {
        case "union":
        case "intersection":
          return expression.operands.flatMap(leaves);
        case "exclusion":
          return [...leaves(expression.base), ...leaves(expression.subtracted)];
        case "reference":
          return [[on, expression.name]];
        case "arrow":
          return this.#subjects(on, expression.relation)
            .filter(({ type }) => this.#has(type, expression.permission))
            .map(({ type, id }) => [{ type, id }, expression.permission]);
        default:
          return [];
      }
    };
    return leaves(permission.expression);
  }

  #subjects({ type, id }: ObjectReference, relation: string): SubjectReference[] {
    return [...this.relationships.values()]
      .filter((r) => r.resource.type === type && r.resource.id === id && r.relation === relation)
      .map(({ subject }) => subject);
  }

  #has(type: string, name: string): boolean {
    const definition = this.#model.definitions.get(type);
    return definition?.relations.has(name) === true || definition?.permissions.has(name) === true;
  }
}
