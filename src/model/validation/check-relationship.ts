import { didYouMean } from "../../diagnostics/nearest.ts";
import { formatSubjectReference, type WrittenRelationship } from "../relationship-text.ts";
import {
  type AllowedSubject,
  type Definition,
  formatSubject,
  type Model,
} from "../schema/model.ts";

/**
 * Explains why a model does not allow a relationship; checks run in SpiceDB's order.
 *
 * @returns undefined if the model allows it
 */
export function whyNotAllowed(model: Model, written: WrittenRelationship): string | undefined {
  const { resource, relation: name, subject } = written.relationship;
  const definition = model.definitions.get(resource.type);
  if (definition === undefined) return noType(model, resource.type);
  const relation = definition.relations.get(name);
  if (relation === undefined && !definition.permissions.has(name))
    return noMember(definition, name, definition.relations.keys());
  const subjectDefinition = model.definitions.get(subject.type);
  if (subjectDefinition === undefined) return noType(model, subject.type);
  const { relation: subjectRelation } = subject;
  if (
    subjectRelation !== undefined &&
    !subjectDefinition.relations.has(subjectRelation) &&
    !subjectDefinition.permissions.has(subjectRelation)
  ) {
    const { relations, permissions } = subjectDefinition;
    return noMember(subjectDefinition, subjectRelation, [
      ...relations.keys(),
      ...permissions.keys(),
    ]);
  }
  if (relation === undefined) {
    return `${resource.type}#${name} is a permission, which is computed and never stored`;
  }
  if (relation.subjects.some((allowed) => admits(allowed, written))) return undefined;
  const accepted = relation.subjects.map(formatSubject).join(", ");
  return `${resource.type}#${name} does not accept ${kindOf(written)}; it accepts ${accepted}`;
}

/** Whether a relationship matches an allowed subject of its relation. */
function admits(allowed: AllowedSubject, written: WrittenRelationship): boolean {
  const { type, id, relation } = written.relationship.subject;
  return (
    allowed.type === type &&
    allowed.wildcard === (id === "*") &&
    allowed.relation === relation &&
    allowed.caveat === written.caveat &&
    allowed.expiration === (written.expiration !== undefined)
  );
}

/** The kind of a relationship's subject, as in the schema. */
function kindOf({ relationship: { subject }, caveat, expiration }: WrittenRelationship): string {
  const { type, id, relation } = subject;
  const kind =
    id === "*"
      ? formatSubjectReference(subject)
      : relation === undefined
        ? type
        : `${type}#${relation}`;
  const traits = [caveat, expiration === undefined ? undefined : "expiration"].filter((t) => t);
  return traits.length === 0 ? kind : `${kind} with ${traits.join(" and ")}`;
}

function noType(model: Model, type: string): string {
  return `the model has no type ${type}${didYouMean(type, model.definitions.keys())}`;
}

/** @param known - the names to suggest; of a relationship's own relation no permission, which is never stored */
function noMember({ name: type }: Definition, name: string, known: Iterable<string>): string {
  return `${type} has no relation or permission ${name}${didYouMean(name, known)}`;
}
