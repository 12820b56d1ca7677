import type { Arrow, Definition, Expression, Model, Relation } from "../../../model/index.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { ArrowStep, Member, Names, Node, ReachNode, RelationStep } from "./program.ts";

/** The parts of a reach node while they are collected. */
interface Parts {
  self: boolean;
  readonly names: Set<number>;
  readonly relations: Map<number, RelationStep>;
  readonly arrows: Map<string, ArrowStep>;
  readonly combined: number[];
}

/**
 * Compiles the nodes of all members, which come first, and of the operands of combining
 * expressions.
 */
export function compileNodes(model: Model, names: Names, groups: Uint8Array): Node[] {
  return new NodeCompiler(model, names, groups).compile();
}

class NodeCompiler {
  readonly #definitions: readonly Definition[];
  readonly #names: Names;
  readonly #nodes: Node[] = [];
  /** The nodes of expressions, so that a permission that many refer to is compiled once. */
  readonly #compiled = new Map<Expression, number>();

  readonly #groups: Uint8Array;

  constructor(model: Model, names: Names, groups: Uint8Array) {
    this.#groups = groups;
    this.#definitions = [...model.definitions.values()];
    this.#names = names;
  }

  compile(): Node[] {
    // Members keep their ids as node ids; the nodes without a name come after them.
    this.#nodes.length = this.#names.members.length;
    this.#nodes[0] = toNode(newParts());
    for (const { id } of this.#names.members.slice(1)) {
      const parts = newParts();
      this.#addMember(id, parts);
      this.#nodes[id] = toNode(parts);
    }
    return this.#nodes;
  }

  #addMember(id: number, parts: Parts): void {
    // Each member once: permissions may refer to one another in diamonds.
    const pending = [id];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (parts.names.has(next)) continue;
      parts.names.add(next);
      const { type, name } = this.#member(next);
      const definition = this.#definition(type);
      const relation = definition.relations.get(name);
      const permission = definition.permissions.get(name);
      if (relation !== undefined) {
        const usersets = usersetsOf(relation, this.#names);
        parts.relations.set(next, {
          member: next,
          wildcard: relation.subjects.some(({ wildcard }) => wildcard),
          usersets: usersets.length > 0,
          onlyGroups: usersets.every((userset) => this.#groups[userset] === 1),
        });
      } else if (permission !== undefined) {
        this.#addExpression(permission.expression, type, parts, pending);
      }
    }
  }

  #addExpression(expression: Expression, type: number, parts: Parts, pending: number[]): void {
    switch (expression.kind) {
      case "nil":
        return;
      case "self":
        parts.self = true;
        return;
      case "reference":
        pending.push(this.#names.memberIds[type]?.get(expression.name) as number);
        return;
      case "arrow":
        if (expression.function === "all") break;
        parts.arrows.set(
          `${expression.relation}>${expression.permission}`,
          this.#arrow(expression, type),
        );
        return;
      case "union":
        for (const operand of expression.operands) {
          this.#addExpression(operand, type, parts, pending);
        }
        return;
    }
    parts.combined.push(this.#combined(expression, type));
  }

  /** The node of an expression that combines its operands. */
  #combined(expression: Expression, type: number): number {
    const known = this.#compiled.get(expression);
    if (known !== undefined) return known;
    const id = this.#nodes.push(toNode(newParts())) - 1;
    this.#compiled.set(expression, id);
    this.#nodes[id] = this.#combinedNode(expression, type);
    return id;
  }

  #combinedNode(expression: Expression, type: number): Node {
    switch (expression.kind) {
      case "intersection":
        return {
          kind: "and",
          operands: expression.operands.map((operand) => this.#operand(operand, type)),
        };
      case "exclusion":
        return {
          kind: "except",
          base: this.#operand(expression.base, type),
          subtracted: this.#operand(expression.subtracted, type),
        };
      case "arrow":
        return { kind: "each", arrow: this.#arrow(expression, type) };
      default:
        throw new AuthzError("INTERNAL", `${expression.kind} is not combined`);
    }
  }

  #operand(expression: Expression, type: number): number {
    if (expression.kind === "reference") {
      return this.#names.memberIds[type]?.get(expression.name) as number;
    }
    if (
      expression.kind === "intersection" ||
      expression.kind === "exclusion" ||
      (expression.kind === "arrow" && expression.function === "all")
    ) {
      return this.#combined(expression, type);
    }
    const parts = newParts();
    const pending: number[] = [];
    this.#addExpression(expression, type, parts, pending);
    for (const member of pending) this.#addMember(member, parts);
    return this.#nodes.push(toNode(parts)) - 1;
  }

  #arrow({ relation, permission }: Arrow, type: number): ArrowStep {
    const targets = this.#names.memberIds.map((ids) => ids.get(permission) ?? -1);
    const subjects = this.#definition(type).relations.get(relation)?.subjects ?? [];
    const types = new Set(
      subjects.map((subject) => this.#names.typeIds.get(subject.type) as number),
    );
    return {
      relation: this.#names.memberIds[type]?.get(relation) as number,
      usersets: subjects.some(({ relation }) => relation !== undefined),
      targets: Int32Array.from(targets),
      only: types.size === 1 ? (targets[[...types][0] as number] as number) : -1,
    };
  }

  #member(id: number): Member {
    return this.#names.members[id] as Member;
  }

  #definition(type: number): Definition {
    return this.#definitions[type] as Definition;
  }
}

function newParts(): Parts {
  return {
    self: false,
    names: new Set(),
    relations: new Map(),
    arrows: new Map(),
    combined: [],
  };
}

function toNode({ self, names, relations, arrows, combined }: Parts): ReachNode {
  return {
    kind: "reach",
    self,
    names,
    relations: [...relations.values()],
    arrows: [...arrows.values()],
    combined: [...new Set(combined)],
  };
}

/** The members whose usersets a relation accepts. */
export function usersetsOf({ subjects }: Relation, names: Names): number[] {
  return subjects.flatMap(({ type, relation }) => {
    const subject = names.typeIds.get(type);
    const userset =
      subject === undefined || relation === undefined
        ? undefined
        : names.memberIds[subject]?.get(relation);
    return userset === undefined ? [] : [userset];
  });
}
