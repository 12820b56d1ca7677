/** Requests that are nested too deep for the usual limit of protobuf are refused, in JSON and in binary alike. */
import { type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { registryOf } from "../../../src/runtime/json/json-text.ts";
import { binaryCodec } from "../../../src/runtime/wire/message-codec.ts";
import { NewSchema } from "../http/unusual-protos/gen/unusual/edition/v1/edition_pb.ts";
import { AllSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { OldSchema } from "../http/unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import { decode, errorOf } from "./decoding.ts";

const LIMITS = { maxBytes: 1e6, maxElements: 1e6, maxResponseBytes: 1e6 };
const MEMORY = { take: () => undefined } as never;

/** The JSON of a message with a number of levels of some kind. */
type Body = (levels: number) => JsonValue;

function nest(levels: number, innermost: JsonValue, around: (inner: JsonValue) => JsonValue) {
  let json = innermost;
  for (let level = 1; level < levels; level++) json = around(json);
  return json;
}
const objects = (levels: number, innermost: JsonValue = { a: 1 }) =>
  nest(levels, innermost, (a) => ({ a }));
const lists = (levels: number) => nest(levels, [], (inner) => [inner]);

/** The message of a binary request, or why it is refused. */
function binaryError(message: DescMessage, json: JsonValue): string {
  const options = { registry: registryOf([message.file]), recursionLimit: 1_000 };
  const bytes = toBinary(message, fromJson(message, json, options));
  try {
    binaryCodec({ input: message, output: message }, LIMITS).decode(bytes, MEMORY);
    return "ok";
  } catch (error) {
    return (error as Error).message;
  }
}

const tooDeep = (field: string) =>
  `the field "${field}" is nested deeper than 100 messages, the most that protobuf decodes: an object in a google.protobuf.Struct counts as 3, a list in it as 2, an entry of a map as 1`;

test.each<[string, number, DescMessage, Body, string, string?]>([
  ["objects", 33, AllSchema, (n) => ({ object: objects(n) }), "object"],
  ["objects, the last one empty", 34, AllSchema, (n) => ({ object: objects(n, {}) }), "object"],
  [
    "objects of a oneof",
    33,
    AllSchema,
    (n) => ({ kindObject: objects(n) }),
    "kindObject",
    "kind_object",
  ],
  [
    "objects of a list",
    33,
    AllSchema,
    (n) => ({ objects: [{}, objects(n)] }),
    "objects[1]",
    "objects",
  ],
  ["objects of a value", 33, AllSchema, (n) => ({ anything: objects(n, {}) }), "anything"],
  [
    "objects of a map",
    32,
    AllSchema,
    (n) => ({ values: { k: objects(n) } }),
    'values[\\"k\\"]',
    "values",
  ],
  [
    "objects in messages",
    32,
    AllSchema,
    (n) => ({ rest: { rest: { rest: { object: objects(n) } } } }),
    "rest.rest.rest.object",
  ],
  ["lists", 50, AllSchema, (n) => ({ list: lists(n) }), "list"],
  ["lists of a value", 50, AllSchema, (n) => ({ anything: lists(n) }), "anything"],
  [
    "objects in lists",
    20,
    AllSchema,
    (n) => ({ object: nest(n, { a: 1 }, (a) => ({ a: [a] })) }),
    "object",
  ],
])("%s: %d levels are accepted, and no more", (_, most, message, body, field, inBinary = field) => {
  expect(errorOf(message, JSON.stringify(body(most)))).toBe("ok");
  expect(binaryError(message, body(most))).toBe("ok");
  expect(errorOf(message, JSON.stringify(body(most + 1)))).toBe(tooDeep(field));
  expect(binaryError(message, body(most + 1))).toBe(tooDeep(inBinary));
});

test("each depth of JSON that is parsed has the same reason", () => {
  for (let levels = 34; levels < 100; levels++) {
    const text = JSON.stringify({ object: objects(levels) });
    expect(errorOf(AllSchema, text), String(levels)).toBe(tooDeep("object"));
  }
  const text = JSON.stringify({ object: objects(100) });
  expect(errorOf(AllSchema, text)).toBe("the body is nested deeper than 100 levels");
});

test("the content of an Any counts from the Any on", () => {
  const any = (levels: number): JsonValue => ({
    any: { "@type": "type.googleapis.com/google.protobuf.Struct", value: objects(levels) },
  });
  expect(errorOf(AllSchema, JSON.stringify(any(33)))).toBe("ok");
  expect(errorOf(AllSchema, JSON.stringify(any(34)))).toBe(tooDeep("any"));
  const own: JsonValue = {
    any: { "@type": "type.googleapis.com/unusual.kinds.v1.All", object: objects(33) },
  };
  expect(errorOf(AllSchema, JSON.stringify(own))).toBe(tooDeep("any.object"));
});

test.each<[string, DescMessage, string]>([
  ["messages", AllSchema, "rest"],
  ["delimited messages", NewSchema, "delimited"],
])("%s are nested as deep as JSON is, and 100 deep in binary", (_, message, field) => {
  const body = (levels: number) => nest(levels + 1, {}, (inner) => ({ [field]: inner }));
  expect(errorOf(message, JSON.stringify(body(99)))).toBe("ok");
  expect(errorOf(message, JSON.stringify(body(100)))).toBe(
    "the body is nested deeper than 100 levels",
  );
  expect(binaryError(message, body(100))).toBe("ok");
  expect(binaryError(message, body(101))).toMatch(
    new RegExp(`^the field "${field}\\.${field}.*" is nested deeper than 100 messages`),
  );
});

test("entries of maps count, too", () => {
  const body = (levels: number) =>
    nest(levels + 1, { key: "a" }, (inner) => ({ key: "a", oldByName: { b: inner } }));
  expect(errorOf(OldSchema, JSON.stringify(body(49)))).toBe("ok");
  expect(binaryError(OldSchema, body(50))).toBe("ok");
  expect(binaryError(OldSchema, body(51))).toMatch(/^the field "old_by_name\.old_by_name/);
});

test("what is malformed beside deep parts is refused for that", () => {
  const deep = JSON.stringify(objects(30));
  expect(errorOf(AllSchema, `{"object":${deep},"unknown":1}`)).toBe(
    'the field "unknown" is not known',
  );
  // JSON that is deep where no message is, as in a field that is not known.
  expect(errorOf(AllSchema, `{"unknown":${JSON.stringify(objects(60))}}`)).toBe(
    'the field "unknown" is not known',
  );
  expect(errorOf(AllSchema, `{"flat":${JSON.stringify(lists(60))}}`)).toMatch(/must be an object/);
});

test("a request that is not too deep is the same as before", () => {
  const json = { object: objects(33), anythings: [lists(20), objects(20)] };
  const registry = registryOf([AllSchema.file]);
  expect(decode(AllSchema, JSON.stringify(json))).toEqual(fromJson(AllSchema, json, { registry }));
});
