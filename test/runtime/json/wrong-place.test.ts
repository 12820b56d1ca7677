/** The position that is reported for an invalid body: the first error in the order of the text. */
import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AllSchema, FlatSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { errorOf, repeat } from "./decoding.ts";

const item = (wrong: number, right: string, bad: string) => (index: number) =>
  index >= wrong ? bad : right;

describe("the first invalid one of a thousand items", () => {
  const PLACES = [0, 1, 127, 128, 129, 500, 999];

  test.each(PLACES)("in a list, at %i", (at) => {
    expect(errorOf(FlatSchema, `{"smalls":[${repeat(1000, item(at, "1", '"x"'))}]}`)).toBe(
      `the field "smalls[${at}]" must be an int32`,
    );
  });
  test.each(PLACES)("in a list of times, at %i", (at) => {
    const right = '"2026-01-31T12:00:00Z"';
    const body = `{"times":[${repeat(1000, item(at, right, '"2026-02-31T12:00:00Z"'))}]}`;
    expect(errorOf(FlatSchema, body)).toBe(
      `the field "times[${at}]" must be a time such as 2026-01-31T12:00:00Z`,
    );
  });
  test.each(PLACES)("in a list of messages, at %i", (at) => {
    const body = `{"alls":[${repeat(1000, item(at, '{"flat":{}}', '{"flat":{"truth":1}}'))}]}`;
    expect(errorOf(AllSchema, body)).toBe(
      `the field "alls[${at}].flat.truth" must be true or false`,
    );
  });
  test.each(PLACES)("in a map, at %i", (at) => {
    const value = item(at, '"a"', "1");
    const body = `{"texts":{${repeat(1000, (index) => `"k${index}":${value(index)}`)}}}`;
    expect(errorOf(AllSchema, body)).toBe(`the field "texts[\\"k${at}\\"]" is not valid`);
  });
  test.each(PLACES)("of the keys of a map, at %i", (at) => {
    const key = item(at, "1", "x");
    const body = `{"shades":{${repeat(1000, (index) => `"${key(index)}${index}":1`)}}}`;
    expect(errorOf(AllSchema, body)).toBe(`the field "shades[\\"x${at}\\"]" is not valid`);
  });
  test.each(PLACES)("in a map of messages, at %i", (at) => {
    const value = item(at, "{}", '{"small":1.5}');
    const body = `{"flats":{${repeat(1000, (index) => `"k${index}":${value(index)}`)}}}`;
    expect(errorOf(AllSchema, body)).toBe(`the field "flats[\\"k${at}\\"].small" must be an int32`);
  });
});

describe("the first of several errors", () => {
  const texts = `[${repeat(200, () => '"a"')},1]`;
  test.each<[string, DescMessage, string, string]>([
    [
      "before a message",
      FlatSchema,
      '{"small":"x","flat":{"big":"x"}}',
      'the field "small" must be an int32',
    ],
    [
      "in a message",
      FlatSchema,
      '{"flat":{"big":"x"},"small":"x"}',
      'the field "flat.big" must be an int64',
    ],
    [
      "before a name that is unknown",
      FlatSchema,
      '{"small":"x","nope":1}',
      'the field "small" must be an int32',
    ],
    [
      "in a message before a name that is unknown",
      FlatSchema,
      '{"flat":{"nope":1},"no":1}',
      'the field "flat.nope" is not known',
    ],
    [
      "a name that is unknown before a value",
      FlatSchema,
      '{"nope":1,"small":"x"}',
      'the field "nope" is not known',
    ],
    [
      "a long list before a short one",
      FlatSchema,
      `{"texts":${texts},"smalls":["x"]}`,
      'the field "texts[200]" must be a string',
    ],
    [
      "a short list before a long one",
      FlatSchema,
      `{"smalls":["x"],"texts":${texts}}`,
      'the field "smalls[0]" must be an int32',
    ],
    [
      "two members of a oneof after a long list",
      FlatSchema,
      `{"texts":${texts},"chosenText":"","chosenHuge":1}`,
      'the field "texts[200]" must be a string',
    ],
    [
      "an item with an exact number after one without",
      AllSchema,
      '{"flat":{"huges":[12345678901234567890,99999999999999999999]}}',
      'the field "flat.huges[1]" must be a uint64',
    ],
  ])("%s", (_name, message, body, expected) => {
    expect(errorOf(message, body)).toBe(expected);
  });
});

test("an error of several parts together has no position", () => {
  const twice = (count: number) =>
    `{"datas":{${repeat(count, (index) => `"${index + 1}":""`)},"+1":""}}`;
  for (const count of [2, 300]) {
    expect(errorOf(AllSchema, twice(count))).toBe(
      "the body does not match the fields of the request",
    );
  }
});
