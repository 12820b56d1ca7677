import { create, type DescMessage, type Message, toJson } from "@bufbuild/protobuf";
import { StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CurrentUserSchema } from "../../../services/iam/gen/svc/iam/v1/auth_pb.ts";
import { ListUsersResponseSchema } from "../../../services/iam/gen/svc/iam/v1/directory_pb.ts";
import { UserSchema } from "../../../services/iam/gen/svc/iam/v1/user_pb.ts";
import { compileJsonText, jsonWriting, registryOf } from "../../../src/runtime/json/json-text.ts";
import { timestampText } from "../../../src/runtime/json/timestamp-text.ts";
import { runs } from "../../support/effort.ts";
import { file_unusual_edition_v1_edition } from "../http/unusual-protos/gen/unusual/edition/v1/edition_pb.ts";
import { file_unusual_kinds_v1_kinds } from "../http/unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import { file_unusual_legacy_v1_legacy } from "../http/unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import { randomMessage } from "../http/unusual-protos/random-message.ts";

const MESSAGES: readonly DescMessage[] = [
  ListUsersResponseSchema,
  CurrentUserSchema,
  ...file_unusual_kinds_v1_kinds.messages,
  ...file_unusual_legacy_v1_legacy.messages,
  ...file_unusual_edition_v1_edition.messages,
];

/** What protobuf-es writes; undefined where it refuses to. */
function byLibrary(desc: DescMessage, message: Message): string | undefined {
  try {
    return JSON.stringify(toJson(desc, message, jsonWriting(desc, registryOf([desc.file]))));
  } catch {
    return undefined;
  }
}

const writerOf = (desc: DescMessage) => compileJsonText(desc, registryOf([desc.file]));

describe("the text of a message is that of protobuf-es", () => {
  test.each(MESSAGES.map((desc) => [desc.typeName, desc] as const))("%s", (_, desc) => {
    const write = writerOf(desc);
    fc.assert(
      fc.property(randomMessage(desc), (message) => {
        expect(write(message)).toBe(byLibrary(desc, message));
      }),
      { numRuns: runs(1_000, 50) },
    );
  });

  test("for every character", () => {
    const write = writerOf(UserSchema);
    for (let code = 0; code < 0x10000; code += 64) {
      const units = Array.from({ length: 64 }, (_, index) => code + index);
      const displayName = String.fromCharCode(...units);
      const user = create(UserSchema, { displayName });
      expect(write(user), `${code}`).toBe(byLibrary(UserSchema, user));
    }
  });
});

describe("a message that holds what its type does not allow is refused as by protobuf-es", () => {
  const user = (change: object) => ({ ...create(UserSchema, { id: "1" }), ...change }) as Message;
  const time = (change: object) => ({ ...create(TimestampSchema), ...change });
  test.each([
    ["a number as a text", { username: 1 }],
    ["no text", { username: undefined }],
    ["null as a text", { username: null }],
    ["a text as a boolean", { disabled: "true" }],
    ["a list that is a text", { groupIds: "ab" }],
    ["a list that is a number", { groupIds: 5 }],
    ["a list with a hole", { groupIds: [undefined, "a"] }],
    ["a set as a list", { groupIds: new Set(["a"]) }],
    ["another message", { $typeName: "svc.iam.v1.Group" }],
    ["no message", { $typeName: undefined }],
    ["another message in a field", { createTime: create(StructSchema) }],
    ["a text in a field of a message", { createTime: "2026-11-28T00:00:00Z" }],
    ["a time before the year 1", { createTime: time({ seconds: -62_135_596_801n }) }],
    ["a time after the year 9999", { createTime: time({ seconds: 253_402_300_800n }) }],
    ["negative nanos", { createTime: time({ nanos: -1 }) }],
    ["a second of nanos", { createTime: time({ nanos: 1_000_000_000 }) }],
    ["a part of a nano", { createTime: time({ nanos: 0.5 }) }],
    ["seconds that are a number", { createTime: time({ seconds: 5 }) }],
    ["seconds that are a text", { createTime: time({ seconds: "5" }) }],
  ])("%s", (_, change) => {
    const message = user(change);
    const write = writerOf(UserSchema);
    const expected = byLibrary(UserSchema, message);
    if (expected === undefined) expect(() => write(message)).toThrow();
    else expect(write(message)).toBe(expected);
  });

  test("and the error names the field", () => {
    expect(() => writerOf(UserSchema)(user({ username: 1 }))).toThrow(
      "cannot encode field svc.iam.v1.User.username to JSON: expected string, got 1",
    );
  });
});

describe("the text of a time is that of protobuf-es", () => {
  const byProtobuf = (seconds: bigint, nanos: number) =>
    toJson(TimestampSchema, create(TimestampSchema, { seconds, nanos }));
  const agree = (seconds: bigint, nanos: number) => {
    expect(timestampText({ seconds, nanos })).toBe(byProtobuf(seconds, nanos));
  };

  test.each([
    ["the first", -62_135_596_800n, 0],
    ["the last", 253_402_300_799n, 999_999_999],
    ["1970", 0n, 0],
    ["just before 1970", -1n, 999_999_999],
    ["a leap day", 1_709_164_800n, 0],
    ["the last second of a day", 1_709_251_199n, 1],
    ["milliseconds", 1_709_251_199n, 120_000_000],
    ["microseconds", 1_709_251_199n, 120_000],
    ["nanoseconds", 1_709_251_199n, 120],
  ])("%s", (_, seconds, nanos) => agree(seconds, nanos));

  test("at random", () => {
    const seconds = fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n });
    const nanos = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 999_999_999 }),
      fc.integer({ min: 0, max: 999_999 }).map((micros) => micros * 1_000),
      fc.integer({ min: 0, max: 999 }).map((millis) => millis * 1_000_000),
    );
    fc.assert(fc.property(seconds, nanos, agree), { numRuns: runs(10_000, 500) });
  });
});
