import { testModelRule } from "./rule-tester.ts";

const letters = (count: number) => "a".repeat(count);

testModelRule("MODEL_NAME_INVALID", {
  valid: [
    "definition abc {}",
    "definition d_1 {}",
    "definition abc/def/ghi {}",
    "definition use {}",
    `definition ${letters(64)} {}`,
    `definition ${letters(64)}/${letters(63)} {}`,
    `definition doc { relation ${letters(64)}: doc; }`,
    "caveat C1(a int) { a == 1 }",
  ],
  invalid: [
    { schema: "definition ⟦ab {}", messages: ["3 to 64 characters of a-z"] },
    { schema: "definition ⟦Abc {}", messages: ['"Abc" is not a valid name of a definition'] },
    { schema: "definition ⟦1bc {}", messages: ["starting with a letter"] },
    { schema: "definition ⟦abc_ {}", messages: ['not ending with "_"'] },
    { schema: "definition ⟦äbc {}", messages: ['"äbc"'] },
    { schema: "definition ⟦ab/cde {}", messages: ['prefixes of the same form before "/"'] },
    { schema: `definition ⟦${letters(65)} {}`, messages: ["3 to 64"] },
    {
      schema: `definition ⟦${letters(64)}/${letters(64)} {}`,
      messages: ["at most 128 characters in total"],
    },
    { schema: `definition ⟦${letters(200)} {}`, messages: [`"${letters(80)}…"`] },
    { schema: "definition doc { relation ⟦ab: doc; }", messages: ["name of a relation"] },
    { schema: "definition doc { permission ⟦Ab_ = nil; }", messages: ["name of a permission"] },
  ],
});

testModelRule("MODEL_DEFINITION_DUPLICATE", {
  valid: ["definition doc {}\ndefinition dog {}"],
  invalid: [
    {
      schema: "definition doc {}\ndefinition ⟦doc {}",
      messages: ['"doc" is already used in line 1'],
    },
    {
      schema: "caveat doc(a int) { a == 1 }\n\ndefinition ⟦doc {}",
      messages: ['the name of the definition "doc" is already used in line 1'],
    },
    {
      schema: "definition doc {}\ncaveat ⟦doc(a int) { a == 1 }",
      messages: ['the name of the caveat "doc" is already used in line 1'],
    },
    {
      schema: "use partial\npartial doc {}\npartial ⟦doc {}\ndefinition ⟦doc {}",
      messages: ["the partial", "the definition"],
    },
  ],
});

testModelRule("MODEL_RELATION_DUPLICATE", {
  valid: ["definition doc { relation one: doc; permission two = one; }\ndefinition dog {}"],
  invalid: [
    {
      schema: "definition doc {\n relation one: doc\n relation ⟦one: doc\n}",
      messages: ['the name of the relation "one" of doc is already used in line 2'],
    },
    {
      schema: "definition doc {\n permission one = nil\n relation ⟦one: doc\n}",
      messages: ["rename one of the two"],
    },
    {
      schema: "definition doc {\n relation one: doc\n permission ⟦one = nil\n}",
      messages: ['the permission "one" of doc'],
    },
  ],
});

testModelRule("MODEL_SUBJECT_DUPLICATE", {
  valid: [
    "definition doc { relation one: doc | doc:* | doc#one; }",
    "use expiration\ncaveat c(a int) { a == 1 }\ndefinition doc { relation one: doc | doc with c | doc with expiration | doc with c and expiration; }",
  ],
  invalid: [
    { schema: "definition doc { relation one: doc | ⟦doc; }", messages: ["doc is listed twice"] },
    {
      schema: "definition doc { relation one: doc | ⟦doc#...; }",
      messages: ["doc is listed twice"],
    },
    { schema: "definition doc { relation one: doc#one | ⟦doc#one; }", messages: ["doc#one"] },
  ],
});
