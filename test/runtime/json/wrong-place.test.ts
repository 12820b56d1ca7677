/** The place that is reported of a wrong body: the first that is wrong as it was sent. */
import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AllSchema, FlatSchema } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { repeat, told } from "./decoding.ts";

const item = (wrong: number, right: string, bad: string) => (index: number) =>
  index >= wrong ? bad : right;

describe("of a thousand items, the first of those that are wrong", () => {
  const PLACES = [0, 1, 127, 128, 129, 500, 999];

  test.each(PLACES)("in a list, at %i", (at) => {
    expect(told(FlatSchema, `{"smalls":[${repeat(1000, item(at, "1", '"x"'))}]}`)).toBe(
      `the field "smalls[${at}]" must be an int32`,
    );
  });
  test.each(PLACES)("in a list of times, at %i", (at) => {
    const right = '"2026-01-31T12:00:00Z"';
    const body = `{"times":[${repeat(1000, item(at, right, '"2026-02-31T12:00:00Z"'))}]}`;
    expect(told(FlatSchema, body)).toBe(
      `the field "times[${at}]" must be a time such as 2026-01-31T12:00:00Z`,
    );
  });
  test.each(PLACES)("in a list of messages, at %i", (at) => {
    const body = `{"alls":[${repeat(1000, item(at, '{"flat":{}}', '{"flat":{"truth":1}}'))}]}`;
    expect(told(AllSchema, body)).toBe(`the field "alls[${at}].flat.truth" must be true or false`);
  });
  test.each(PLACES)("in a map, at %i", (at) => {
    const value = item(at, '"a"', "1");
    const body = `{"texts":{${repeat(1000, (index) => `"k${index}":${value(index)}`)}}}`;
    expect(told(AllSchema, body)).toBe(`the field "texts[\\"k${at}\\"]" is not valid`);
  });
  test.each(PLACES)("of the keys of a map, at %i", (at) => {
    const key = item(at, "1", "x");
    const body = `{"shades":{${repeat(1000, (index) => `"${key(index)}${index}":1`)}}}`;
    expect(told(AllSchema, body)).toBe(`the field "shades[\\"x${at}\\"]" is not valid`);
  });
  test.each(PLACES)("in a map of messages, at %i", (at) => {
    const value = item(at, "{}", '{"small":1.5}');
    const body = `{"flats":{${repeat(1000, (index) => `"k${index}":${value(index)}`)}}}`;
    expect(told(AllSchema, body)).toBe(`the field "flats[\\"k${at}\\"].small" must be an int32`);
  });
});

describe("of several that are wrong, the first", () => {
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
    expect(told(message, body)).toBe(expected);
  });
});

test("what is wrong only together has no place of its own", () => {
  const twice = (count: number) =>
    `{"datas":{${repeat(count, (index) => `"${index + 1}":""`)},"+1":""}}`;
  for (const count of [2, 300]) {
    expect(told(AllSchema, twice(count))).toBe("the body does not match the fields of the request");
  }
});
