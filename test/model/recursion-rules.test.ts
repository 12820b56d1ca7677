import { testModelRule } from "./rule-tester.ts";

const doc = (...statements: string[]) =>
  `definition user {}\ndefinition doc {\nrelation parent: doc\nrelation viewer: user\nrelation banned: user\n${statements.join("\n")}\n}`;

testModelRule("MODEL_PERMISSION_CYCLE", {
  valid: [
    // Through relationships, a permission may recur: the parent is another object.
    doc("permission view = viewer + parent->view"),
    doc("permission edit = parent->view", "permission view = edit + parent->edit"),
    doc("permission one = two + three", "permission two = three", "permission three = viewer"),
  ],
  invalid: [
    { schema: doc("permission view = ⟦view"), messages: ["itself: view > view;"] },
    { schema: doc("permission view = viewer + (parent->view & ⟦view)"), messages: ["view > view"] },
    {
      schema: doc(
        "permission one = two",
        "permission two = viewer & three",
        "permission three = ⟦one",
      ),
      messages: ["itself: one > two > three > one; remove one of these references"],
    },
    {
      schema: doc("permission one = ⟦one", "permission two = one + ⟦two"),
      messages: ["one > one", "two > two"],
    },
    { schema: doc("permission view = viewer - ⟦view"), messages: ["view > view"] },
  ],
});

testModelRule("MODEL_EXCLUSION_RECURSION", {
  valid: [
    doc("permission view = (viewer + parent->view) - banned"),
    doc("permission view = viewer - parent->banned"),
    doc("permission view = viewer - parent->barred", "permission barred = banned + parent->barred"),
  ],
  invalid: [
    {
      schema: doc("permission view = viewer - ⟦parent->view"),
      messages: ["doc#view > doc#view; subtract an expression that does not depend on it"],
    },
    {
      schema: doc(
        "permission view = viewer - ⟦barred",
        "permission barred = banned & parent->view",
      ),
      messages: ["doc#view > doc#barred > doc#view"],
    },
    {
      schema: doc("relation hidden: user | doc#view", "permission view = viewer - ⟦hidden"),
      messages: ["doc#view > doc#hidden > doc#view"],
    },
    {
      schema: doc("permission view = viewer - (banned + (viewer & ⟦parent->view))"),
      messages: ["doc#view > doc#view"],
    },
  ],
});
