import { type Arrow, visitLeaves } from "../expression.ts";
import { memberKey } from "../member-key.ts";
import type { Definition, Permission, Relation } from "../model.ts";
import { suggest } from "../reporter.ts";
import type { CheckContext } from "./check-context.ts";
import { memberNames, reportUnknownMember } from "./report-unknown.ts";

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
