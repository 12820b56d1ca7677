import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema, FieldMaskSchema, StringValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test, vi } from "vitest";
import { CurrentUserSchema } from "../../../services/iam/gen/svc/iam/v1/auth_pb.ts";
import { ListUsersResponseSchema } from "../../../services/iam/gen/svc/iam/v1/directory_pb.ts";
import { onceEach, reusableMessage } from "../../../src/runtime/binding/reusable-message.ts";
import { compileJsonText, registryOf } from "../../../src/runtime/json/json-text.ts";
import { binaryCodec } from "../../../src/runtime/wire/message-codec.ts";

const user = (name: string) => create(CurrentUserSchema, { name, groups: ["g1"] });

test("a reusable message is written once, and another one each time", () => {
  const write = vi.fn((message: object) => JSON.stringify(message));
  const once = onceEach(write);
  const message = reusableMessage(user("Ann"));
  expect(once(message)).toBe(JSON.stringify(message));
  expect(once(message)).toBe(JSON.stringify(message));
  expect(write).toHaveBeenCalledTimes(1);
  const other = user("Bob");
  once(other);
  other.name = "Carol";
  expect(once(other)).toContain("Carol");
  expect(write).toHaveBeenCalledTimes(3);
});

test("two writers do not exchange their texts", () => {
  const message = reusableMessage(user("Ann"));
  const [left, right] = [onceEach(() => "left"), onceEach(() => "right")];
  expect([left(message), right(message), left(message)]).toEqual(["left", "right", "left"]);
});

test("writers beyond the fourth write it each time, and none keeps more", () => {
  const message = reusableMessage(user("Ann"));
  const writes = Array.from({ length: 6 }, (_, index) => vi.fn(() => index));
  for (const write of writes) onceEach<number>(write)(message);
  for (const write of writes) onceEach<number>(write)(message);
  expect(writes.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1, 2, 2]);
});

test("what cannot be written is tried each time", () => {
  const write = vi.fn((): string => {
    throw new Error("too large");
  });
  const message = reusableMessage(user("Ann"));
  expect(() => onceEach(write)(message)).toThrow("too large");
  expect(() => onceEach(write)(message)).toThrow("too large");
  expect(write).toHaveBeenCalledTimes(2);
});

test("the bytes are those of any other message", () => {
  const rpc = { input: CurrentUserSchema, output: CurrentUserSchema };
  const limits = { maxBytes: 100, maxElements: 100, maxResponseBytes: 100 };
  const codec = binaryCodec(rpc, limits);
  const message = reusableMessage(user("Ann"));
  expect(codec.encode(message)).toEqual(toBinary(CurrentUserSchema, user("Ann")));
  expect(codec.encode(message)).toBe(codec.encode(message));
  expect(codec.encode(user("Bob"))).not.toEqual(codec.encode(message));
});

test("a reusable message that is too large is refused each time", () => {
  const rpc = { input: CurrentUserSchema, output: CurrentUserSchema };
  const codec = binaryCodec(rpc, { maxBytes: 1, maxElements: 1, maxResponseBytes: 1 });
  const message = reusableMessage(user("Ann"));
  for (const _ of ["once", "again"]) {
    expect(() => codec.encode(message)).toThrow("larger than 1 bytes");
  }
});

test("the JSON is that of any other message", () => {
  const write = compileJsonText(CurrentUserSchema, registryOf([CurrentUserSchema.file]));
  expect(write(reusableMessage(user("Ann")))).toBe(write(user("Ann")));
});

test("nothing of it can be changed", () => {
  const list = reusableMessage(
    create(ListUsersResponseSchema, { users: [{ displayName: "Ann" }] }),
  );
  expect(() => Object.assign(list.users[0] ?? {}, { displayName: "Bob" })).toThrow(TypeError);
  expect(() => list.users.pop()).toThrow(TypeError);
  expect(() => Object.assign(list, { users: [] })).toThrow(TypeError);
});

test.each([
  ["a text", create(StringValueSchema, { value: "a" })],
  ["a list", create(FieldMaskSchema, { paths: ["a"] })],
])("%s can be reusable", (_, message) => {
  expect(reusableMessage(message)).toBe(message);
});

test("bytes cannot", () => {
  const message = create(BytesValueSchema, { value: new Uint8Array([1]) });
  expect(() => reusableMessage(message)).toThrow(TypeError);
  const write = onceEach(() => String(message.value[0]));
  message.value[0] = 2;
  expect(write(message)).toBe("2");
});
