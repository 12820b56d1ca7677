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

/** Checks that the references of a permission exist and are allowed where they are. */
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
    const reason = `${where} accepts ${source.wildcard}, which does not identify an object for the arrow`;
    const hint = "; remove the wildcard, or use another relation";
    report("MODEL_ARROW_LEFT", arrow.position, arrow.relation, reason, hint);
  } else if (definition.permissions.has(arrow.relation)) {
    const reason = "it is a permission, and an arrow follows stored relationships";
    const hint = suggest(arrow.relation, definition.relations.keys()) || "; use a relation";
    report("MODEL_ARROW_LEFT", arrow.position, arrow.relation, reason, hint);
  } else {
    reportUnknownMember(context, definition, arrow.relation, arrow.position);
  }
}

/** Checks that at least one type that the arrow leads to has the member on its right. */
function checkTarget(
  { model, broken, report }: CheckContext,
  relation: Relation,
  arrow: Arrow,
): void {
  if (broken.has(relation)) return;
  const types = new Set<Definition>();
  for (const subject of relation.subjects) {
    const type = model.definitions.get(subject.type);
    // An unknown type is reported at the relation.
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
 * Checks `permission view: user = …`, with `use typechecking`: the declared types must include all
 * reachable types. As in SpiceDB, intersections and exclusions remove no types.
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
  // A map also yields entries that are added during the iteration, so this reaches all members.
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
