import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import {
  MAX_NESTING,
  type MessageOutline,
  MessageOutlineReader,
} from "../../../src/api/descriptors/message-outline.ts";
import { eachField } from "../../../src/api/descriptors/wire.ts";
import { encode } from "../descriptors.ts";

/** The outlines of messages, and whether one of them nests too deep. */
function read(...messages: readonly Uint8Array[]) {
  const outlines: MessageOutline[] = [];
  const outlineReader = new MessageOutlineReader();
  const file = encode(...messages.map((bytes) => [4, bytes] as const));
  eachField(file, (_field, _wireType, reader) => {
    outlines.push(outlineReader.read(reader));
    return true;
  });
  return { outlines, nestsTooDeep: outlineReader.nestsTooDeep };
}

const NAME = encode([1, "Inner"]);

describe("a message with a part that ends too early is refused:", () => {
  test.each([
    ["its name", Uint8Array.of(0x0a, 5, 0x61)],
    ["a message in it", Uint8Array.of(0x1a, 2, 0x0a, 9)],
    ["a tag", Uint8Array.of(0x80)],
  ])("%s", (_, bytes) => {
    expect(() => read(bytes)).toThrow();
  });
});

test("the name is that of the message, the last one if there are several", () => {
  const message = encode([1, "First"], [3, NAME], [1, "Last"]);
  expect(read(message, NAME).outlines).toMatchObject([
    { name: "Last", bytes: message },
    { name: "Inner", bytes: NAME },
  ]);
});

test("an extension is found in the message, and in messages in it", () => {
  const extension = encode([6, encode([1, "extension"])]);
  const declares = (bytes: Uint8Array) => read(bytes).outlines[0]?.declaresExtensions;
  expect(declares(NAME)).toBe(false);
  expect(declares(extension)).toBe(true);
  expect(declares(encode([3, NAME], [3, encode([3, extension])]))).toBe(true);
  // That of one message is not that of the next.
  expect(read(extension, NAME).outlines[1]?.declaresExtensions).toBe(false);
});

test("how deep messages nest is bounded", () => {
  const nested = (levels: number): Uint8Array => {
    let bytes = NAME;
    for (let level = 0; level < levels; level++) {
      const writer = new BinaryWriter();
      bytes = writer.tag(3, WireType.LengthDelimited).bytes(bytes).finish() as typeof bytes;
    }
    return bytes;
  };
  expect(read(nested(MAX_NESTING)).nestsTooDeep).toBe(false);
  expect(read(nested(0), nested(MAX_NESTING + 1)).nestsTooDeep).toBe(true);
  expect(read(nested(3_000)).nestsTooDeep).toBe(true);
});
