import type { Relationship } from "../../src/model/relationship.ts";

/** A small model whose groups may contain each other. */
export const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition document {
  relation viewer: user | group#member
  permission view = viewer
}
`;

/** A user views a document. */
export function viewer(document: string, user: string): Relationship {
  return {
    resource: { type: "document", id: document },
    relation: "viewer",
    subject: { type: "user", id: user },
  };
}

/** The members of one group are members of another. */
export function nested(group: string, inner: string): Relationship {
  return {
    resource: { type: "group", id: group },
    relation: "member",
    subject: { type: "group", id: inner, relation: "member" },
  };
}
