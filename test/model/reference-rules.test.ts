import { testModelRule } from "./rule-tester.ts";

const USER = "definition user {}\n";
const doc = (...statements: string[]) => `${USER}definition doc {\n${statements.join("\n")}\n}`;

testModelRule("MODEL_TYPE_UNKNOWN", {
  valid: [
    doc("relation viewer: user | doc"),
    "definition doc { relation viewer: later; }\ndefinition later {}",
  ],
  invalid: [
    { schema: doc("relation viewer: ⟦usr"), messages: ['"usr"; did you mean "user"?'] },
    {
      schema: doc("relation viewer: ⟦ser:* | user | ⟦nothing#member"),
      messages: ["ser", "nothing"],
    },
    {
      schema: `caveat recent(a int) { a == 1 }\n${doc("relation viewer: ⟦recent")}`,
      messages: ["recent is a caveat: write it after `with`"],
    },
    // One mistake is one error: names after an arrow to an unknown type are not checked.
    {
      schema: doc("relation parent: ⟦folder", "permission view = parent->view"),
      messages: ["folder"],
    },
  ],
});

testModelRule("MODEL_RELATION_UNKNOWN", {
  valid: [
    doc("relation viewer: user", "permission edit = viewer", "permission view = edit + viewer"),
    doc("relation viewer: user | doc#edit", "permission edit = viewer"),
  ],
  invalid: [
    {
      schema: doc("relation viewer: user", "permission view = ⟦viewr"),
      messages: ['doc has no relation or permission "viewr"; did you mean "viewer"?'],
    },
    {
      schema: doc("relation viewer: user#⟦member".replace("user#⟦", "⟦user#")),
      messages: ['user has no relation or permission "member"'],
    },
    { schema: doc("permission view = ⟦parent->view"), messages: ['"parent"'] },
    { schema: doc("permission view = nil - (⟦one & ⟦two)"), messages: ['"one"', '"two"'] },
    { schema: doc("permission view = ⟦self"), messages: ["add `use self`"] },
    {
      schema: doc("permission view = ⟦user"),
      messages: ["user is a type: declare a relation to it"],
    },
    // A relation with a syntax error is declared all the same; only its own error is reported.
    { schema: doc("relation viewer: user", "permission view = ⟦editor"), messages: ["editor"] },
  ],
});

testModelRule("MODEL_CAVEAT_UNKNOWN", {
  valid: [
    `caveat recent(a int) { a == 1 }\n${doc("relation viewer: user with recent | user:* with recent")}`,
    `use expiration\n${doc("relation viewer: user with expiration")}`,
  ],
  invalid: [
    {
      schema: `caveat recent(a int) { a == 1 }\n${doc("relation viewer: ⟦user with recnt")}`,
      messages: ['did you mean "recent"?'],
    },
    {
      schema: doc("relation viewer: ⟦user with expiration"),
      messages: ["add `use expiration` at the top of the file"],
    },
  ],
});

testModelRule("MODEL_ARROW_LEFT", {
  valid: [doc("relation parent: doc", "relation all: user:*", "permission view = parent->all")],
  invalid: [
    {
      schema: doc(
        "relation parent: doc",
        "permission view = parent",
        "permission all = ⟦view->parent",
      ),
      messages: ['"view" is not allowed on the left of an arrow: it is a permission'],
    },
    {
      schema: doc("relation parent: doc | doc:*", "permission view = ⟦parent->parent"),
      messages: ["doc#parent accepts doc:*, which does not identify an object for the arrow"],
    },
    {
      schema: doc(
        "relation parent: doc#other",
        "relation other: user:*",
        "permission view = ⟦parent.all(parent)",
      ),
      messages: ["doc#other accepts user:*"],
    },
  ],
});

testModelRule("MODEL_ARROW_NESTED", {
  valid: [doc("relation parent: doc", "permission view = parent->parent + parent.any(parent)")],
  invalid: [
    {
      schema: doc("relation parent: doc", "permission view = parent->parent⟦->parent"),
      messages: ["an arrow cannot follow an arrow"],
    },
    {
      schema: doc("relation parent: doc", "permission view = parent.all(parent)⟦.any(parent)"),
      messages: ["arrow"],
    },
  ],
});

testModelRule("MODEL_ARROW_FUNCTION", {
  valid: [
    doc("relation parent: doc", "permission view = parent .\nany(\nparent) + parent.all(parent)"),
  ],
  invalid: [
    {
      schema: doc("relation parent: doc", "permission view = parent.⟦al(parent)"),
      messages: ['did you mean "all"?'],
    },
  ],
});

testModelRule("MODEL_ARROW_DANGLING", {
  valid: [
    doc("relation parent: doc | user", "relation viewer: user", "permission view = parent->viewer"),
    doc("relation parent: doc#parent", "permission view = parent->view"),
  ],
  invalid: [
    {
      schema: doc("relation parent: doc", "permission view = parent->⟦veiw"),
      messages: [
        '"parent" leads to doc, which has no relation or permission "veiw"; did you mean "view"?',
      ],
    },
    {
      schema: doc("relation parent: doc | user", "permission view = parent.all(⟦nothing)"),
      messages: ["leads to doc, user, which have no"],
    },
  ],
});

const group = "definition group {\n relation member: user | user:*\n permission all = member\n}\n";

testModelRule("MODEL_WILDCARD_USERSET", {
  valid: [
    // SpiceDB does not look through permissions, nor at usersets of the same type.
    `${group}${doc("relation viewer: group#all")}`,
    doc("relation viewer: user:* | doc#viewer"),
  ],
  invalid: [
    {
      schema: `${group}${doc("relation viewer: user | ⟦group#member")}`,
      messages: ["group#member cannot be a subject, because group#member accepts user:*"],
    },
    {
      schema: `${group}definition team { relation member: ⟦group#member; }\n${doc("relation viewer: ⟦team#member")}`,
      messages: [
        "group#member",
        "team#member cannot be a subject, because group#member accepts user:*",
      ],
    },
  ],
});

testModelRule("MODEL_SUBJECT_TYPES_INCOMPLETE", {
  valid: [
    doc("relation viewer: user", "permission view: nothing = viewer"),
    `use typechecking\n${doc("relation viewer: user | doc#viewer", "permission view: user = viewer")}`,
    `use typechecking\n${doc("relation viewer: user", "permission view: user | more = viewer + viewer->viewer").replace(" + viewer->viewer", "")}`,
  ],
  invalid: [
    {
      schema: `use typechecking\n${doc("relation viewer: user | doc:*", "permission ⟦view: doc = nil - viewer")}`,
      messages: ['"view" can also be held by user; add it to the declared types'],
    },
  ],
});
