import { dependenciesOf } from "../schema/dependencies.ts";
import {
  type Arrow,
  type Definition,
  type Model,
  memberKey,
  type Permission,
  type Relation,
  visitLeaves,
} from "../schema/model.ts";
import { type Report, suggest } from "../syntax/reporter.ts";
import { type CheckContext, memberNames, reportUnknownMember } from "./check-context.ts";

/** Checks that what a permission refers to exists, and can stand where it stands. */
export function checkPermission(
  context: CheckContext,
  definition: Definition,
  permission: Permission,
): void {
  const { relations, permissions } = definition;
  visitLeaves(permission.expression, (leaf) => {
    if (leaf.kind === "arrow") checkArrow(context, definition, leaf);
    else if (leaf.kind === "reference") {
      if (relations.has(leaf.name) || permissions.has(leaf.name)) return;
      reportUnknownMember(context, definition, leaf.name, leaf.position);
    }
  });
}

function checkArrow(context: CheckContext, definition: Definition, arrow: Arrow): void {
  const { wildcards, report } = context;
  const relation = definition.relations.get(arrow.relation);
  if (relation !== undefined) {
    const source = wildcards.get(memberKey(definition.name, arrow.relation));
    if (source === undefined) {
      checkTarget(context, relation, arrow);
      return;
    }
    const where = memberKey(source.type, source.relation);
    const reason = `${where} accepts ${source.wildcard}, which names no object to go on from`;
    const hint = "; remove the wildcard, or use another relation";
    report("MODEL_ARROW_LEFT", arrow.position, arrow.relation, reason, hint);
  } else if (definition.permissions.has(arrow.relation)) {
    const reason = "it is a permission, and an arrow follows what is written";
    const hint = suggest(arrow.relation, definition.relations.keys()) || "; use a relation";
    report("MODEL_ARROW_LEFT", arrow.position, arrow.relation, reason, hint);
  } else {
    reportUnknownMember(context, definition, arrow.relation, arrow.position);
  }
}

/** Checks that some type which the arrow leads to has what stands on its right. */
function checkTarget(
  { model, broken, report }: CheckContext,
  relation: Relation,
  arrow: Arrow,
): void {
  if (broken.has(relation)) return;
  const types = new Set<Definition>();
  for (const subject of relation.subjects) {
    const type = model.definitions.get(subject.type);
    // An unknown type is reported where the relation names it.
    if (type === undefined || broken.has(type)) return;
    if (type.relations.has(arrow.permission) || type.permissions.has(arrow.permission)) return;
    types.add(type);
  }
  report(
    "MODEL_ARROW_DANGLING",
    arrow.permissionPosition,
    relation.name,
    [...types].map(({ name }) => name),
    arrow.permission,
    suggest(arrow.permission, [...types].flatMap(memberNames)),
  );
}

/**
 * Checks `permission view: user = …`, under `use typechecking`: the declared types are all that can
 * be reached. As SpiceDB reckons it, intersections and exclusions take nothing away.
 */
export function checkDeclaredTypes(model: Model, report: Report): void {
  for (const { name: type, permissions } of model.definitions.values()) {
    for (const { name, subjectTypes, position } of permissions.values()) {
      if (subjectTypes === undefined) continue;
      const reachable = reachableTypes(model, type, name);
      const missing = [...reachable].filter((found) => !subjectTypes.includes(found));
      if (missing.length === 0) continue;
      report("MODEL_SUBJECT_TYPES_INCOMPLETE", position, name, missing.sort());
    }
  }
}

function reachableTypes(model: Model, type: string, name: string): ReadonlySet<string> {
  const types = new Set<string>();
  const reached = new Map([[memberKey(type, name), { type, name }]]);
  // A map yields what is added while it is read, so this reaches everything.
  for (const member of reached.values()) {
    const relation = model.definitions.get(member.type)?.relations.get(member.name);
    for (const subject of relation?.subjects ?? []) {
      if (subject.relation === undefined) types.add(subject.type);
    }
    for (const next of dependenciesOf(model, member.type, member.name)) {
      reached.set(memberKey(next.type, next.name), next);
    }
  }
  return types;
}
