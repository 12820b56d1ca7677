import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { changedFields } from "../../../src/ground/rpc/request-fields.ts";

const mask = (...paths: string[]) => create(FieldMaskSchema, { paths });

test.each([
  ["without a mask, the fields that are filled change", undefined, ["name"]],
  ["with one, those that it names", mask("avatar_url"), ["avatar_url"]],
  ["an empty one changes nothing", mask(), []],
  ["a path that occurs twice counts once", mask("name", "name"), ["name"]],
])("%s", (_, given, expected) => {
  expect([...changedFields(given, { name: true, avatar_url: false })]).toEqual(expected);
});

test.each(["email", "", "*", "user.name", "avatarUrl", "__proto__"])(
  "the path %j is refused",
  (path) => {
    expect(() => changedFields(mask(path), { name: true, avatar_url: false })).toThrow(
      `update_mask has ${JSON.stringify(path)}; only name, avatar_url can be changed`,
    );
  },
);
