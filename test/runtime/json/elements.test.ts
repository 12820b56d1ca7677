/** The limits of one JSON message. */
import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AllSchema, FlatSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { decode, errorOf, repeat } from "./decoding.ts";

const LIMIT = 1_000;
const refusal = `the body has more than ${LIMIT} elements (server.max_message_elements)`;

/** A body with a number of elements, of the kind that the row names. */
type Body = (elements: number) => string;

/** The minimum count of a message of the type, even with a single field. */
const FLAT = 4;
const ALL = 2;

describe("the number of elements of a body is limited:", () => {
  test.each<[string, DescMessage, Body]>([
    ["items of a list", FlatSchema, (n) => `{"texts":[${repeat(n - FLAT, () => '"a"')}]}`],
    [
      "items, with white space",
      FlatSchema,
      (n) => `{"smalls":[ ${repeat(n - FLAT, () => " 1\n")} ]}`,
    ],
    ["entries of a map", AllSchema, (n) => `{"texts":{${repeat(n - ALL, (i) => `"k${i}":"v"`)}}}`],
    [
      "commas, quotes and brackets in texts",
      FlatSchema,
      (n) => `{"texts":[${repeat(n - FLAT, () => String.raw`",[{\",\\"`)}]}`,
    ],
    ["empty lists", AllSchema, (n) => `{"anything":[${repeat(n - ALL, () => "[ ]")}]}`],
    ["lists in lists", AllSchema, (n) => `{"anything":[${repeat((n - ALL) / 3, () => "[1,2]")}]}`],
    ["objects", AllSchema, (n) => `{"objects":[${repeat((n - ALL) / 3, () => '{"a":{"b":1}}')}]}`],
    ["paths of a field mask", FlatSchema, (n) => `{"mask":"${repeat(n - FLAT + 1, () => "a")}"}`],
    ["words of a field mask", FlatSchema, (n) => `{"mask":"a${"Bc".repeat(n - FLAT)}"}`],
    [
      "field masks",
      AllSchema,
      (n) => `{"masks":[${repeat((n - ALL) / 9, () => '"a,b,c,d,e,f,g,h,i"')}]}`,
    ],
    [
      "a field mask in an Any",
      AllSchema,
      (n) =>
        `{"any":{"@type":"x/google.protobuf.FieldMask","value":"${repeat(n - ALL - 1, () => "a")}"}}`,
    ],
    [
      "messages of many fields, counted per 16 fields",
      FlatSchema,
      (n) => {
        const texts = repeat(n - 10 * FLAT, () => '""');
        return `${'{"flat":'.repeat(9)}{"texts":[${texts}]}${"}".repeat(9)}`;
      },
    ],
  ])("%s", (_name, message, body) => {
    expect(errorOf(message, body(LIMIT), LIMIT)).toBe("ok");
    expect(errorOf(message, body(LIMIT + 10), LIMIT)).toBe(refusal);
  });

  test("including unknown fields, malformed JSON and duplicates", () => {
    const unknown = (n: number) => `{${repeat(n, (index) => `"x${index}":1`)}}`;
    expect(errorOf(FlatSchema, unknown(LIMIT), LIMIT)).toBe('the field "x0" is not known');
    expect(errorOf(FlatSchema, unknown(LIMIT + 1), LIMIT)).toBe(refusal);
    expect(errorOf(FlatSchema, `{${repeat(LIMIT + 1, () => '"text":""')}}`, LIMIT)).toBe(refusal);
    expect(errorOf(FlatSchema, `[${",".repeat(LIMIT + 1)}`, LIMIT)).toBe(refusal);
  });

  test("with the code of a body that is too large", () => {
    const body = `{"texts":[${repeat(LIMIT, () => '""')}]}`;
    expect(() => decode(FlatSchema, body, LIMIT)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
  });
});

test("a body that is too deep is refused before it is parsed", () => {
  const tooDeep = "the body is nested deeper than 100 levels";
  expect(errorOf(AllSchema, "[".repeat(1_000_000))).toBe(tooDeep);
  expect(errorOf(AllSchema, `{"anything":${"[".repeat(100)}${"]".repeat(100)}}`)).toBe(tooDeep);
  expect(errorOf(AllSchema, `{"anything":"${"[".repeat(101)}"}`)).toBe("ok");
});

test.each([
  ["nothing", ""],
  ["white space", " "],
  ["half a string", '{"text":"'],
  ["half an escape", '{"text":"\\'],
  ["half an object", '{"text":'],
  ["brackets that do not match", "]]]}}}"],
  ["a byte order mark", "\ufeff{}"],
])("what is not JSON is reported: %s", (_name, text) => {
  expect(errorOf(FlatSchema, text, LIMIT)).toBe("the body is not valid JSON");
});
