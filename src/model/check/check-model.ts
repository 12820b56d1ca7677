import {
  type AllowedSubject,
  type Definition,
  formatSubject,
  type Model,
  memberKey,
  type Relation,
} from "../schema/model.ts";
import { type Report, suggest } from "../syntax/reporter.ts";
import type { SchemaSyntax } from "../syntax/schema-syntax.ts";
import { type CheckContext, findWildcards, reportUnknownMember } from "./check-context.ts";
import { checkDeclaredTypes, checkPermission } from "./check-permission.ts";
import { checkCycles, checkExclusions } from "./check-recursion.ts";

/** Checks that names in a model exist, and that permissions can be computed. */
export function checkModel(model: Model, syntax: SchemaSyntax, report: Report): void {
  const { broken } = syntax;
  const context: CheckContext = { model, broken, wildcards: findWildcards(model), report };
  for (const definition of model.definitions.values()) {
    for (const relation of definition.relations.values()) {
      checkRelation(context, definition, relation);
    }
    for (const permission of definition.permissions.values()) {
      checkPermission(context, definition, permission);
    }
  }
  const cyclic = checkCycles(model, report);
  checkExclusions(model, cyclic, report);
  if (syntax.features.has("typechecking")) checkDeclaredTypes(model, report);
}

/** Checks the subjects that a relation accepts. */
function checkRelation(context: CheckContext, definition: Definition, relation: Relation): void {
  const seen = new Set<string>();
  for (const subject of relation.subjects) {
    const text = formatSubject(subject);
    if (seen.has(text)) context.report("MODEL_SUBJECT_DUPLICATE", subject.position, text);
    seen.add(text);
    checkType(context, definition, subject);
    checkCaveat(context, subject);
  }
}

function checkType(context: CheckContext, definition: Definition, subject: AllowedSubject): void {
  const { model, broken, wildcards, report } = context;
  const type = model.definitions.get(subject.type);
  if (type === undefined) {
    const hint = model.caveats.has(subject.type)
      ? `; ${subject.type} is a caveat: write it after \`with\``
      : suggest(subject.type, model.definitions.keys());
    report("MODEL_TYPE_UNKNOWN", subject.position, subject.type, hint);
    return;
  }
  if (subject.relation === undefined || broken.has(type)) return;
  if (!type.relations.has(subject.relation) && !type.permissions.has(subject.relation)) {
    reportUnknownMember(context, type, subject.relation, subject.position);
    return;
  }
  // Wildcards through usersets of the same type are allowed, as in SpiceDB.
  const source = wildcards.get(memberKey(subject.type, subject.relation));
  if (source === undefined || type === definition) return;
  const userset = memberKey(subject.type, subject.relation);
  const relation = memberKey(source.type, source.relation);
  report("MODEL_WILDCARD_USERSET", subject.position, userset, relation, source.wildcard);
}

function checkCaveat({ model, report }: CheckContext, subject: AllowedSubject): void {
  const { caveat, position } = subject;
  if (caveat === undefined || model.caveats.has(caveat)) return;
  const hint =
    caveat === "expiration"
      ? "; for relationships that expire, add `use expiration` at the top of the file"
      : suggest(caveat, model.caveats.keys());
  report("MODEL_CAVEAT_UNKNOWN", position, caveat, hint);
}
