import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { FieldMaskSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { type User, UserSchema } from "../../../gen/svc/iam/v1/user_pb.ts";
import { refuseFixedFields } from "../../../src/ground/rpc/fixed-fields.ts";

const STORED = create(UserSchema, {
  id: "1",
  username: "alice",
  organizationId: "acme",
  groupIds: ["a", "b"],
  createTime: timestampFromMs(1),
  etag: "x",
});
const changeable = ["username", "display_name"];
const check = (given: User | undefined, mask?: string[]) =>
  refuseFixedFields(
    {
      schema: UserSchema,
      given,
      changeable,
      mask: mask && create(FieldMaskSchema, { paths: mask }),
    },
    () => STORED,
  );

test.each<[string, Partial<User>, string]>([
  ["a flag", { disabled: true }, "disabled"],
  ["the id", { id: "2" }, "id"],
  ["a list with more", { groupIds: ["a", "b", "c"] }, "group_ids"],
  ["a list with less", { groupIds: ["a"] }, "group_ids"],
  ["an e-mail address where it cannot be changed", { email: "a@example.com" }, "email"],
])("%s that is another one is refused", async (_, more, field) => {
  await expect(check(create(UserSchema, { ...STORED, ...more }))).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: `${field} cannot be changed here: leave it out; only username, display_name can be changed`,
  });
});

test("all that are others are named", async () => {
  await expect(check(create(UserSchema, { id: "2", disabled: true }))).rejects.toThrow(
    /^id cannot be changed here: .*; disabled cannot be changed here: /,
  );
});

test.each<[string, MessageInitShape<typeof UserSchema> | undefined]>([
  ["nothing", undefined],
  ["what may change", { username: "bob", displayName: "Bob" }],
  ["a resource as it was read", STORED],
  ["its list in another order", { ...STORED, groupIds: ["b", "a"] }],
  ["times and etags of before", { createTime: timestampFromMs(2), etag: "y" }],
])("%s is accepted", async (_, given) => {
  await check(given && create(UserSchema, given));
});

test("a mask says what changes, whatever else is there", async () => {
  await check(create(UserSchema, { disabled: true }), ["username"]);
});
