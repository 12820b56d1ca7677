import fc from "fast-check";
import { type Model, parseModel } from "../../../src/model/index.ts";
import type { Relationship } from "../../../src/model/relationship.ts";

type Gen = fc.GeneratorValue;

/** A random model of users, groups, folders and documents, which passes the checks of models. */
export function randomModel(gen: Gen): { text: string; model: Model } {
  const text = randomSchema(gen);
  const { model, diagnostics } = parseModel(text, "random.zed");
  fc.pre(diagnostics.length === 0);
  return { text, model };
}

/** All relationships that a model allows among objects with given ids. */
export function possibleRelationships(model: Model, ids: readonly string[]): Relationship[] {
  return [...model.definitions.values()].flatMap(({ name: type, relations }) =>
    [...relations.values()].flatMap(({ name: relation, subjects }) =>
      subjects.flatMap(({ type: subjectType, relation: member, wildcard }) =>
        ids.flatMap((id) =>
          (wildcard ? ["*"] : ids).map((subjectId): Relationship => {
            const subject = { type: subjectType, id: subjectId };
            return {
              resource: { type, id },
              relation,
              subject: member === undefined ? subject : { ...subject, relation: member },
            };
          }),
        ),
      ),
    ),
  );
}

function randomSchema(gen: Gen): string {
  const some = (...items: string[]) => items.filter(() => gen(fc.boolean));
  const subjects = (...optional: string[]) => ["user", ...some(...optional)].join(" | ");
  const usersets = ["group#member", "group#admins"];
  return `use self
definition user {}
definition group {
  relation parent: group
  relation member: ${subjects("group#member", "group#admins", "group")}
  relation owner: ${subjects("user:*", "group#member", "folder#view")}
  permission admins = ${expression(gen, ["member", "owner"], ["parent->admins", "parent->member", "parent.all(admins)"])}
}
definition folder {
  relation parent: folder${gen(fc.boolean) ? " | group | group#member" : ""}
  relation viewer: ${subjects("user:*", ...usersets)}
  relation banned: ${subjects("user:*", ...usersets)}
  permission look = ${expression(gen, ["viewer", "banned"], ["parent->viewer", "parent->look"])}
  permission view = ${expression(gen, ["viewer", "banned", "look"], ["parent->view", "parent.all(view)", "parent.any(viewer)"])}
}
definition doc {
  relation place: folder | group
  relation reader: ${subjects("user:*", "group", "folder#view", ...usersets)}
  relation barred: ${subjects("user:*", ...usersets)}
  permission read = ${expression(gen, ["reader", "barred"], ["place->view", "place->member", "place.all(view)"])}
  permission edit = ${expression(gen, ["reader", "barred", "read"], ["place->admins", "place.all(look)"])}
}
`;
}

function expression(gen: Gen, names: string[], arrows: string[], depth = 2): string {
  const leaf = () => {
    const pick = gen(fc.nat, { max: 11 });
    if (pick === 0) return "nil";
    if (pick === 1) return "self";
    return pick < 6 ? gen(fc.constantFrom, ...arrows) : gen(fc.constantFrom, ...names);
  };
  if (depth === 0 || gen(fc.nat, { max: 4 }) === 0) return leaf();
  const operator = gen(fc.constantFrom, " + ", " & ", " - ");
  const operand = () => expression(gen, names, arrows, depth - 1);
  return `(${operand()}${operator}${operand()})`;
}
