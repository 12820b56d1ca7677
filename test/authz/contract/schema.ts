import type { RelationshipUpdate, WriteOperation } from "../../../src/authz/engine/requests.ts";
import { type Model, parseModel } from "../../../src/model/index.ts";
import type { Relationship } from "../../../src/model/relationship.ts";

/** A model with everything that affects decisions: usersets, recursion, wildcards, arrows, all operators. */
export const SCHEMA = `
definition user {}
definition team {
  relation member: user | team#member
}
definition folder {
  relation parent: folder
  relation viewer: user | team#member
  permission view = viewer + parent->view
}
definition document {
  relation folder: folder
  relation viewer: user | user:* | team#member
  relation banned: user
  relation approver: user
  permission view = (viewer - banned) + folder->view
  permission publish = viewer & approver
}
`;

/** The model of a schema, which must be valid. */
export function modelOf(schema: string): Model {
  const { model, diagnostics } = parseModel(schema, "test");
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  return model;
}

/** A relationship written as `doc:1#viewer@team:eng#member`. */
export function relationship(text: string): Relationship {
  const at = /^([^:]+):([^#]+)#([^@]+)@([^:]+):([^#]+?)(?:#(.+))?$/.exec(text);
  if (at === null) throw new Error(`no relationship: ${text}`);
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = "", userset] = at;
  const named = userset === undefined || userset === "..." ? {} : { relation: userset };
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, ...named },
  };
}

/** A check, written like a relationship. */
export function request(text: string) {
  const { relation: permission, ...rest } = relationship(text);
  return { ...rest, permission };
}

/** Updates with one operation. */
export function updates(operation: WriteOperation, ...texts: string[]): RelationshipUpdate[] {
  return texts.map((text) => ({ operation, relationship: relationship(text) }));
}
