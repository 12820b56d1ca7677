import { relatedTypes } from "../schema/dependencies.ts";
import {
  type Arrow,
  type Expression,
  formatSubject,
  type Model,
  memberKey,
  type Relation,
} from "../schema/model.ts";

/**
 * The relations and permissions of one model whose subjects, with the same relationships, certainly
 * are a subset of those in another model.
 */
export interface Inclusions {
  /** The members (`type#name`) whose subjects in the old model are included in the new one. */
  readonly forward: ReadonlySet<string>;
  /** The members whose subjects in the new model are included in the old one. */
  readonly backward: ReadonlySet<string>;
}

/** The names in an expression can expand exponentially; beyond this limit, the result is not certain. */
const MAX_STEPS = 20_000;

interface Side {
  readonly from: Model;
  readonly to: Model;
  /** The members that are still assumed to be included. */
  readonly included: Set<string>;
}

/**
 * Compares the members that two models have in common. All are assumed to be included at first, and
 * those that cannot be proved are removed until nothing changes. This is also correct for recursive
 * permissions, which have the least fixed point.
 */
export function compareInclusions(before: Model, after: Model): Inclusions {
  const shared = sharedMembers(before, after);
  const forward: Side = { from: before, to: after, included: new Set(shared.keys()) };
  const backward: Side = { from: after, to: before, included: new Set(shared.keys()) };
  for (let changed = true; changed; ) {
    changed = false;
    for (const [key, { type, name }] of shared) {
      for (const [side, other] of [
        [forward, backward],
        [backward, forward],
      ] as const) {
        if (!side.included.has(key)) continue;
        if (new Comparison(side, other, type).includesMember(name)) continue;
        side.included.delete(key);
        changed = true;
      }
    }
  }
  return { forward: forward.included, backward: backward.included };
}

function sharedMembers(before: Model, after: Model): Map<string, { type: string; name: string }> {
  const shared = new Map<string, { type: string; name: string }>();
  for (const { name: type, relations, permissions } of before.definitions.values()) {
    const other = after.definitions.get(type);
    for (const name of [...relations.keys(), ...permissions.keys()]) {
      if (!other?.relations.has(name) && !other?.permissions.has(name)) continue;
      shared.set(memberKey(type, name), { type, name });
    }
  }
  return shared;
}

/** Compares one member of a type; `steps` limits the work. */
class Comparison {
  readonly #side: Side;
  readonly #other: Side;
  readonly #type: string;
  #steps = 0;

  constructor(side: Side, other: Side, type: string) {
    this.#side = side;
    this.#other = other;
    this.#type = type;
  }

  includesMember(name: string): boolean {
    const { from, to, included } = this.#side;
    const left = from.definitions.get(this.#type);
    const right = to.definitions.get(this.#type);
    const leftRelation = left?.relations.get(name);
    const rightRelation = right?.relations.get(name);
    if (leftRelation !== undefined && rightRelation !== undefined) {
      return includesSubjects(this.#side, leftRelation, rightRelation);
    }
    const leftExpression = left?.permissions.get(name)?.expression;
    const rightExpression = right?.permissions.get(name)?.expression;
    // A relation that became a permission, or the reverse, cannot be compared.
    if (leftExpression === undefined || rightExpression === undefined) return false;
    return (
      included.has(memberKey(this.#type, name)) && this.#includes(leftExpression, rightExpression)
    );
  }

  #includes(left: Expression, right: Expression, reverse = false): boolean {
    if (++this.#steps > MAX_STEPS) return false;
    const includes = (a: Expression, b: Expression) => this.#includes(a, b, reverse);
    if (left.kind === "nil") return true;
    if (left.kind === "union") return left.operands.every((operand) => includes(operand, right));
    if (right.kind === "intersection") {
      return right.operands.every((operand) => includes(left, operand));
    }
    if (left.kind === "exclusion" && right.kind === "exclusion") {
      // The subtracted set must not have become smaller.
      const smaller = this.#includes(right.subtracted, left.subtracted, !reverse);
      if (smaller && includes(left.base, right.base)) return true;
    }
    if (left.kind === "intersection" && left.operands.some((part) => includes(part, right))) {
      return true;
    }
    if (right.kind === "union" && right.operands.some((part) => includes(left, part))) return true;
    if (left.kind === "exclusion" && includes(left.base, right)) return true;
    const side = reverse ? this.#other : this.#side;
    if (this.#leafIncludes(side, left, right)) return true;
    const unfoldedLeft = this.#unfold(side.from, left);
    if (unfoldedLeft !== undefined && includes(unfoldedLeft, right)) return true;
    const unfoldedRight = this.#unfold(side.to, right);
    return unfoldedRight !== undefined && includes(left, unfoldedRight);
  }

  #leafIncludes(side: Side, left: Expression, right: Expression): boolean {
    if (left.kind === "self") return right.kind === "self";
    if (left.kind === "reference") {
      if (right.kind !== "reference" || left.name !== right.name) return false;
      return side.included.has(memberKey(this.#type, left.name));
    }
    return (
      left.kind === "arrow" && right.kind === "arrow" && this.#arrowIncludes(side, left, right)
    );
  }

  #arrowIncludes({ from, to, included }: Side, left: Arrow, right: Arrow): boolean {
    const { relation, permission } = left;
    if (relation !== right.relation || permission !== right.permission) return false;
    if (left.function !== right.function) return false;
    const key = memberKey(this.#type, relation);
    const opposite = included === this.#side.included ? this.#other.included : this.#side.included;
    if (!included.has(key)) return false;
    // With more objects, fewer subjects satisfy `all`.
    if (left.function === "all" && !opposite.has(key)) return false;
    const types = relatedTypes(from.definitions.get(this.#type)?.relations.get(relation));
    return [...types].every((type) => {
      const has = (model: Model) => {
        const definition = model.definitions.get(type);
        return definition?.relations.has(permission) || definition?.permissions.has(permission);
      };
      return has(from) ? has(to) && included.has(memberKey(type, permission)) : true;
    });
  }

  #unfold(model: Model, expression: Expression): Expression | undefined {
    if (expression.kind !== "reference") return undefined;
    return model.definitions.get(this.#type)?.permissions.get(expression.name)?.expression;
  }
}

/** Whether one relation accepts all subjects of the other, with at most the same meaning. */
function includesSubjects({ from, to, included }: Side, left: Relation, right: Relation): boolean {
  return left.subjects.every((subject) => {
    const text = formatSubject(subject);
    if (!right.subjects.some((other) => formatSubject(other) === text)) return false;
    const { type, relation, caveat } = subject;
    if (caveat !== undefined) {
      const same = from.caveats.get(caveat)?.expression === to.caveats.get(caveat)?.expression;
      if (!same) return false;
    }
    return relation === undefined || included.has(memberKey(type, relation));
  });
}
