import { testModelRule } from "./rule-tester.ts";

const inDoc = (statement: string) =>
  `definition user {}\ndefinition doc {\n  relation viewer: user\n  ${statement}\n}`;

testModelRule("MODEL_SYNTAX", {
  valid: [
    "",
    ";",
    "// only a comment",
    "definition user {}",
    "definition user {};\n",
    "definition user {} definition other {}",
    "\r\ndefinition user {}\r\n\r\ndefinition doc {\r\n\trelation viewer: user\r\n}\r\n",
    "\uFEFFdefinition user {}",
    "/** doc */ definition user {} /* end */",
    "definition doc { ; ; relation viewer: doc; permission view = viewer; }",
    inDoc("relation other: user |\n doc"),
    inDoc("relation other: user#... | doc#viewer"),
    inDoc("relation other: doc#...;"),
    inDoc("permission view = (viewer +\n viewer)"),
    inDoc("permission view = ((nil)) - viewer & nil"),
    inDoc("permission view = viewer /* a\n\n comment */ + viewer // and another"),
    inDoc("relation expiration: user\n relation self: user\n relation partial: user"),
    "use expiration;use self;definition user {}",
    "use typechecking use self\ndefinition user {}",
  ],
  invalid: [
    { schema: "⟦foo", messages: ['expected a definition, a caveat or `use`, found "foo"'] },
    { schema: ";⟦;", messages: ['found ";"'] },
    { schema: "definition user {} ⟦} nonsense", messages: ['found "}"'] },
    { schema: "⟦relation viewer: user", messages: ["move it into a definition"] },
    { schema: "⟦partial view {}", messages: ["add `use partial` at the top of the file"] },
    { schema: "definition ⟦{}", messages: ['expected the name of the definition, found "{"'] },
    { schema: "definition ⟦nil {}", messages: ['"nil" is a keyword'] },
    { schema: "definition user\n{}".replace("user\n", "user⟦\n"), messages: ['expected "{"'] },
    { schema: "definition user {⟦", messages: ['expected "}", found the end of the file'] },
    {
      schema: "definition user {\n⟦definition doc {}",
      messages: ['expected "}", found "definition"; close the definition'],
    },
    { schema: inDoc("⟦foo"), messages: ["expected a relation, a permission"] },
    { schema: inDoc("relation⟦\n other: user"), messages: ["found the end of the line"] },
    { schema: inDoc("relation other ⟦user"), messages: ['expected ":", found "user"'] },
    { schema: inDoc("relation other: ⟦;"), messages: ["expected the type of a subject"] },
    { schema: inDoc("relation other: user | ⟦;"), messages: ["expected the type of a subject"] },
    { schema: inDoc("relation other: user:⟦user"), messages: ['expected "*"'] },
    { schema: inDoc("relation other: user:*⟦#viewer"), messages: ["expected the end of the line"] },
    { schema: inDoc("relation other: doc#⟦*"), messages: ["expected a relation of the subject"] },
    {
      schema: "definition doc { relation viewer: doc ⟦}",
      messages: ['expected the end of the line or ";", found "}"; put a ";" before it'],
    },
    { schema: inDoc("permission view ⟦: = viewer").replace("⟦: =", ": ⟦="), messages: ["a type"] },
    { schema: inDoc("permission view ⟦viewer"), messages: ["a permission has an expression"] },
    { schema: inDoc("permission view = ⟦;"), messages: ['a permission, "nil" or "("'] },
    { schema: inDoc("permission view = (⟦)"), messages: ['a permission, "nil" or "("'] },
    { schema: inDoc("permission view = viewer +⟦ ;").replace("+⟦ ;", "+ ⟦;"), messages: ["found"] },
    { schema: inDoc("permission view = viewer->⟦nil"), messages: ['"nil" is a keyword'] },
    { schema: inDoc("permission view = viewer->⟦(viewer)"), messages: ['found "("'] },
    { schema: inDoc("permission view = viewer ⟦with"), messages: ['found "with"'] },
    {
      schema: inDoc("permission view = (viewer)⟦->viewer"),
      messages: ["only the name of a relation is allowed on the left of an arrow"],
    },
    {
      schema: inDoc("permission view = viewer\n    ⟦+ viewer"),
      messages: ["write an operator at the end of a line"],
    },
    {
      schema: inDoc("permission view = (viewer⟦\n    + viewer)"),
      messages: ['expected ")", found the end of the line; a line break goes after an operator'],
    },
    {
      schema: "definition doc {\n relation viewer: doc#...\n⟦}",
      messages: ['expected the end of the line or ";", found "}"'],
    },
    {
      schema:
        "use expiration\ncaveat c(a int) { a == 1 }\ndefinition doc { relation viewer: doc with expiration ⟦and c; }",
      messages: ["write the caveat before `and expiration`"],
    },
    {
      schema: "use expiration\ndefinition doc { relation ⟦expiration: doc; }",
      messages: ['"expiration" is a keyword'],
    },
    { schema: "use⟦\nexpiration", messages: ["expected the name of a feature"] },
    {
      schema:
        "definition doc {\n relation viewer doc\n permission = viewer\n permission view = viewer\n}"
          .replace("viewer doc", "viewer ⟦doc")
          .replace("permission = v", "permission ⟦= v"),
      messages: ['expected ":"', "expected the name of the permission"],
    },
  ],
});

testModelRule("MODEL_CHARACTER_UNKNOWN", {
  valid: ["// $", "caveat c(a string) { a == '$' }"],
  invalid: [
    { schema: "⟦$$$ @@@", messages: ['unexpected character "$"'] },
    { schema: "definition user {⟦\u00a0}", messages: ["unexpected character U+00A0"] },
    { schema: inDoc("permission view = /* \u{1F600} */ ⟦\u{1F600}"), messages: ["\u{1F600}"] },
    { schema: "⟦\u0000\u0001\uD800", messages: ["U+0000"] },
  ],
});

testModelRule("MODEL_COMMENT_UNTERMINATED", {
  valid: ["/**/", "/* /* */", "//*\ndefinition user {}"],
  invalid: [
    { schema: "definition user {} ⟦/* open\n\n", messages: ['close it with "*/"'] },
    { schema: "⟦/*/", messages: ["the comment does not end"] },
  ],
});

testModelRule("MODEL_STRING_UNTERMINATED", {
  valid: ['caveat c(a string) { a == "\'" || a == \'"\' || a == "" }'],
  invalid: [
    { schema: "caveat c(a string) { a == ⟦'x\n' }", messages: ["close it with '"] },
    { schema: "caveat c(a string) { a == ⟦'''x''' }", messages: ['close it with """'] },
  ],
});

testModelRule("MODEL_NESTING_DEPTH", {
  valid: [
    inDoc(`permission view = ${"(".repeat(256)}viewer${")".repeat(256)}`),
    inDoc(`permission view = viewer${" - nil".repeat(256)}`),
  ],
  invalid: [
    {
      schema: inDoc(`permission view = ${"(".repeat(256)}⟦(viewer${")".repeat(257)}`),
      messages: ["deeper than 256 levels"],
    },
    {
      schema: inDoc(`permission view = viewer${" - nil".repeat(256)} ⟦- nil`),
      messages: ["move its parts into separate permissions"],
    },
  ],
});

testModelRule("MODEL_USE_UNKNOWN", {
  valid: ["use expiration\nuse expiration\nuse self\nuse partial\nuse typechecking\nuse import"],
  invalid: [
    { schema: "use ⟦expirations", messages: ['did you mean "expiration"?'] },
    {
      schema: "use ⟦with",
      messages: ["the features are expiration, typechecking, self, partial, import"],
    },
  ],
});

testModelRule("MODEL_USE_LATE", {
  valid: ["use partial\npartial fields {}\nuse self\ndefinition use {}"],
  invalid: [{ schema: "definition user {}\n⟦use self", messages: ["before the first definition"] }],
});

testModelRule("MODEL_IMPORT_UNSUPPORTED", {
  valid: ["use import\ndefinition user {}"],
  invalid: [
    { schema: 'use import\n⟦import "other.zed"\ndefinition user {}', messages: ["one file"] },
    { schema: '⟦import "other.zed"', messages: ["put the definitions here"] },
  ],
});
