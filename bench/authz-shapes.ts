import type { Relationship } from "../src/model/relationship.ts";

const GROUPS = 20_000;
const USERS = 80_000;
const FOLDERS = 30_000;
/** How many documents there are. */
export const DOCUMENTS = 300_000;
/** How many relationships each shape has. */
export const RELATIONSHIPS = 1_000_000;
const DEPTH = 8;

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | group#member
  permission view = viewer + parent->view
}
definition doc {
  relation folder: folder
  relation reader: user | group#member
  relation banned: user
  permission view = reader + folder->view
  permission edit = reader - banned
}
`;

/** What checks must keep, of look-ups in a `Map`: what was measured, with a tenth of room. */
export interface CheckLimits {
  /** Checks a second, at least. */
  readonly rate: number;
  /** The time that one in a hundred takes, at most. */
  readonly p99: number;
}

/** A million relationships of one form, and the checks that are made of them. */
export interface Shape {
  readonly name: string;
  readonly schema: string;
  readonly relationships: (random: () => number) => Generator<Relationship>;
  readonly checks: readonly {
    readonly permission: string;
    readonly limits: CheckLimits;
    /** A random resource and user; most are denied. */
    readonly pair: (random: () => number) => readonly [type: string, id: string, user: string];
  }[];
}

function userset(type: string, id: string, relation: string, group: string): Relationship {
  const subject = { type: "group", id: group, relation: "member" };
  return { resource: { type, id }, relation, subject };
}

function relationship(
  ...[type, id, relation, subjectType, subjectId]: [string, string, string, string, string]
): Relationship {
  return {
    resource: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId },
  };
}

function groupOf(random: () => number): string {
  return `g${Math.floor(random() * GROUPS)}`;
}

/** Trees of groups: layer upon layer, each group in one of the layer above; and their users. */
function* groups(random: () => number, memberships: number): Generator<Relationship> {
  const layer = GROUPS / DEPTH;
  for (let index = layer; index < GROUPS; index++) {
    const above = Math.floor(index / layer - 1) * layer + Math.floor(random() * layer);
    yield userset("group", `g${above}`, "member", `g${index}`);
  }
  for (let index = 0; index < memberships; index++) {
    yield relationship("group", groupOf(random), "member", "user", `u${index % USERS}`);
  }
}

/** The first million of some, for random ones may be the same. */
function* million(relationships: Generator<Relationship>): Generator<Relationship> {
  let count = 0;
  for (const relationship of relationships) {
    if (++count > RELATIONSHIPS) return;
    yield relationship;
  }
}

/** Documents in a tree of folders, users in two groups. */
export const FOLDERED: Shape = {
  name: `${GROUPS} groups ${DEPTH} deep, folders and documents`,
  schema: SCHEMA,
  checks: [],
  relationships: (random) => million(folders(random)),
};

function* folders(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS * 2);
  for (let index = 1; index < FOLDERS; index++) {
    const id = `f${index}`;
    yield relationship("folder", id, "parent", "folder", `f${Math.floor(index / 4)}`);
    if (index > 100) yield relationship("folder", id, "viewer", "user", userOf(random));
  }
  for (let index = 0; index < DOCUMENTS; index++) {
    const id = `d${index}`;
    const folder = `f${Math.floor(random() * FOLDERS)}`;
    yield relationship("doc", id, "folder", "folder", folder);
    if (index % 10 === 0) yield relationship("doc", id, "banned", "user", userOf(random));
    if (index % 2 === 0) yield userset("doc", id, "reader", groupOf(random));
  }
  for (;;) {
    const id = `d${Math.floor(random() * DOCUMENTS)}`;
    yield relationship("doc", id, "reader", "user", userOf(random));
  }
}

/** Documents that groups alone may read, users in six groups. */
export const NESTED: Shape = {
  name: `${GROUPS} groups ${DEPTH} deep, users in six of them, documents of groups`,
  schema: `definition user {}
definition group {
  relation member: user | group#member
}
definition doc {
  relation viewer: user | group#member
  relation editor: user | group#member
  relation banned: user | group#member
  permission edit = editor - banned
  permission view = (viewer + edit) - banned
}
`,
  relationships: (random) => million(nested(random)),
  checks: [
    { permission: "view", limits: { rate: 0.49, p99: 2 } },
    { permission: "edit", limits: { rate: 0.65, p99: 2 } },
  ].map((check) => ({
    ...check,
    pair: (random) => ["doc", `d${Math.floor(random() * DOCUMENTS)}`, userOf(random)],
  })),
};

function* nested(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS * 6);
  for (let index = 0; ; index++) {
    const id = `d${index % DOCUMENTS}`;
    const relation = ["viewer", "editor", "viewer", "banned"][index % 4] as string;
    yield userset("doc", id, relation, groupOf(random));
  }
}

const ITEMS = 430_000;
const RELATIONS = Array.from({ length: 12 }, (_, index) => `held${index}`);

/** A type of many relations, of which each object has two. */
export const WIDE: Shape = {
  name: `${ITEMS} objects of a type with ${RELATIONS.length} relations`,
  schema: `definition user {}
definition group {
  relation member: user | group#member
}
definition item {
${RELATIONS.map((relation) => `  relation ${relation}: user | group#member`).join("\n")}
  permission view = ${RELATIONS.join(" + ")}
}
`,
  relationships: (random) => million(wide(random)),
  checks: [
    {
      permission: "view",
      limits: { rate: 0.52, p99: 1.4 },
      pair: (random) => ["item", `i${Math.floor(random() * ITEMS)}`, userOf(random)],
    },
  ],
};

function* wide(random: () => number): Generator<Relationship> {
  yield* groups(random, USERS);
  const relation = (index: number) => RELATIONS[index % RELATIONS.length] as string;
  for (let index = 0; ; index++) {
    const id = `i${index % ITEMS}`;
    yield relationship("item", id, relation(index), "user", userOf(random));
    yield userset("item", id, relation(index + 5), groupOf(random));
  }
}

/** A random user. */
export function userOf(random: () => number): string {
  return `u${Math.floor(random() * USERS)}`;
}
