import type { ObjectReference, Relationship } from "../../model/relationship.ts";
import { formatMember, type ObjectMember } from "../../model/relationship-text.ts";
import type { Expression, Model } from "../../model/schema/model.ts";
import { SubjectSet } from "./subject-set.ts";

/**
 * Expands permissions to the subjects that they name, for expected relations: an engine lists the
 * holders of a permission, but not the relation that names each.
 */
export class Expander {
  readonly #model: Model;
  readonly #relationships = new Map<string, Relationship[]>();
  readonly #expanded = new Map<string, SubjectSet>();

  constructor(model: Model, relationships: readonly Relationship[]) {
    this.#model = model;
    for (const relationship of relationships) {
      const { resource, relation: permission } = relationship;
      const key = formatMember({ resource, permission });
      const list = this.#relationships.get(key);
      if (list === undefined) this.#relationships.set(key, [relationship]);
      else list.push(relationship);
    }
  }

  /** The subjects of a relation or permission; none where the type has no such member. */
  expand(member: ObjectMember): SubjectSet {
    const key = formatMember(member);
    const known = this.#expanded.get(key);
    if (known !== undefined) return known;
    // A cycle finds the incomplete set, and adds nothing to it.
    this.#expanded.set(key, new SubjectSet());
    const { resource, permission } = member;
    const definition = this.#model.definitions.get(resource.type);
    const expression = definition?.permissions.get(permission)?.expression;
    const set = definition?.relations.has(permission)
      ? this.#expandRelation(member)
      : expression === undefined
        ? new SubjectSet()
        : this.#expandExpression(resource, expression, key);
    this.#expanded.set(key, set);
    return set;
  }

  #expandRelation(member: ObjectMember): SubjectSet {
    const set = new SubjectSet();
    const key = formatMember(member);
    for (const { subject } of this.#relationships.get(key) ?? []) {
      set.add(subject, key);
      const { type, id, relation } = subject;
      if (relation === undefined) continue;
      set.addAll(this.expand({ resource: { type, id }, permission: relation }));
    }
    return set;
  }

  /** @param path the permission that the expression is of */
  #expandExpression(resource: ObjectReference, expression: Expression, path: string): SubjectSet {
    const expand = (part: Expression) => this.#expandExpression(resource, part, path);
    switch (expression.kind) {
      case "nil":
        return new SubjectSet();
      case "self": {
        const set = new SubjectSet();
        set.add(resource, path);
        return set;
      }
      case "reference":
        return this.expand({ resource, permission: expression.name });
      case "arrow": {
        const related = formatMember({ resource, permission: expression.relation });
        const sets = (this.#relationships.get(related) ?? []).map(({ subject: { type, id } }) =>
          this.expand({ resource: { type, id }, permission: expression.permission }),
        );
        return expression.function === "any" ? unionOf(sets) : intersectionOf(sets);
      }
      case "union":
        return unionOf(expression.operands.map(expand));
      case "intersection":
        return intersectionOf(expression.operands.map(expand));
      case "exclusion":
        return expand(expression.base).exclude(expand(expression.subtracted));
    }
  }
}

function unionOf(sets: readonly SubjectSet[]): SubjectSet {
  const union = new SubjectSet();
  for (const set of sets) union.addAll(set);
  return union;
}

function intersectionOf(sets: readonly SubjectSet[]): SubjectSet {
  const [first, ...others] = sets;
  if (first === undefined) return new SubjectSet();
  return others.reduce((left, right) => left.intersect(right), first);
}
