import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eachField, type FieldReader } from "../../../src/api/descriptors/wire.ts";

/** A value, by field: 1 uint32, 2 int32, 3 bool, 4 string, 5 bytes. */
type Value = number | boolean | string;

const readers: Readonly<Record<number, (reader: { [Name in keyof Read]: Read[Name] }) => Value>> = {
  1: (reader) => reader.uint32(),
  2: (reader) => reader.int32(),
  3: (reader) => reader.bool(),
  4: (reader) => reader.string(),
  5: (reader) => Buffer.from(reader.bytes()).toString("hex"),
};

type Read = Pick<FieldReader, "uint32" | "int32" | "bool" | "string" | "bytes">;

const typeOf = (field: number) => (field <= 3 ? WireType.Varint : WireType.LengthDelimited);

/** The fields of a message as we read them; undefined where the bytes are not one. */
function ours(bytes: Uint8Array): unknown[] | undefined {
  const values: unknown[] = [];
  try {
    eachField(bytes, (field, wireType, reader) => {
      const read = readers[field];
      if (read === undefined || wireType !== typeOf(field)) {
        values.push([field, wireType]);
        return false;
      }
      values.push([field, read(reader)]);
      return true;
    });
  } catch {
    return undefined;
  }
  return values;
}

/** The same, read by the library. */
function theirs(bytes: Uint8Array): unknown[] | undefined {
  const values: unknown[] = [];
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      const read = readers[field];
      if (read === undefined || wireType !== typeOf(field)) {
        values.push([field, wireType]);
        reader.skip(wireType, field);
      } else values.push([field, read(reader)]);
    }
    if (reader.pos > reader.len) return undefined;
  } catch {
    return undefined;
  }
  return values;
}

const message = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constant(1), fc.integer({ min: 0, max: 0xffffffff })),
      fc.tuple(fc.constant(2), fc.integer({ min: -0x80000000, max: 0x7fffffff })),
      fc.tuple(fc.constant(3), fc.boolean()),
      fc.tuple(fc.constant(4), fc.string({ unit: "binary", maxLength: 60 })),
      fc.tuple(fc.constant(5), fc.uint8Array({ maxLength: 200 })),
      fc.tuple(fc.constantFrom(6, 17, 50810, 536870911), fc.constantFrom("64", "32", "group")),
    ),
    { maxLength: 12 },
  )
  .map((fields) => {
    const writer = new BinaryWriter();
    for (const [field, value] of fields) {
      if (value === "64") writer.tag(field, WireType.Bit64).fixed64(7n);
      else if (value === "32") writer.tag(field, WireType.Bit32).fixed32(7);
      else if (value === "group") {
        writer.tag(field, WireType.StartGroup).tag(1, WireType.Varint).uint32(300);
        writer.tag(field, WireType.EndGroup);
      } else if (typeof value === "boolean") writer.tag(field, WireType.Varint).bool(value);
      else if (typeof value === "string") writer.tag(field, WireType.LengthDelimited).string(value);
      else if (typeof value === "number") {
        const tagged = writer.tag(field, WireType.Varint);
        if (field === 1) tagged.uint32(value);
        else tagged.int32(value);
      } else writer.tag(field, WireType.LengthDelimited).bytes(value);
    }
    return writer.finish();
  });

describe("fields are read as the library reads them", () => {
  test("of messages", () => {
    fc.assert(
      fc.property(message, (bytes) => {
        expect(ours(bytes)).toBeDefined();
        expect(ours(bytes)).toEqual(theirs(bytes));
      }),
    );
  });

  test("of messages that are damaged", () => {
    const damage = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(message, damage, fc.nat(400), (bytes, changes, length) => {
        const damaged = bytes.slice(0, length);
        for (const [at, byte] of changes) if (at < damaged.length) damaged[at] = byte;
        expect(ours(damaged)).toEqual(theirs(damaged));
      }),
    );
  });

  test("of any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(ours(bytes)).toEqual(theirs(bytes));
      }),
    );
  });

  test.each([
    ["a number of ten bytes", `08${"ff".repeat(9)}01`],
    ["a number of eleven bytes", "08ffffffffffffffffffff01"],
    ["a number without its end", "0880"],
    ["a bool in the upper half of ten bytes", `18${"80".repeat(9)}01`],
    ["text of a byte order mark", "2203efbbbf"],
    ["text that is not UTF-8", "2202c328"],
    ["text that ends past the message", "220561"],
    ["a field of the number 0", "0000"],
    ["a wire type that does not exist", "0e00"],
    ["a tag of five bytes", "faffffff0f00"],
    ["the end of a group that did not begin", "34"],
    ["a group without its end", "330801"],
  ])("%s", (_, hex) => {
    const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
    expect(ours(bytes)).toEqual(theirs(bytes));
  });
});

describe("a message in another one", () => {
  const inner = (hex: string) => {
    const bytes = Buffer.from(hex, "hex");
    // The bytes after the message belong to the outer one.
    return Uint8Array.from([0x0a, bytes.length, ...bytes, 0x10, 0x05]);
  };
  const read = (bytes: Uint8Array) => {
    const values: unknown[] = [];
    eachField(bytes, (field, wireType, reader) => {
      if (field === 1 && wireType === WireType.LengthDelimited) {
        reader.message((number, type, nested) => {
          if (number === 9) return false;
          values.push([number, type === WireType.Varint ? nested.uint32() : nested.string()]);
          return true;
        });
      } else values.push([field, reader.uint32()]);
      return true;
    });
    return values;
  };

  test("is read in place, and then the bytes after it", () => {
    expect(read(inner("080722026162"))).toEqual([
      [1, 7],
      [4, "ab"],
      [2, 5],
    ]);
    expect(read(inner(""))).toEqual([[2, 5]]);
  });

  test.each([
    ["a number", "0880"],
    ["text", "220261"],
    ["a field that is skipped", "4a0261"],
    ["64 bits that are skipped", "4900000000000000"],
    ["a group that is skipped", "4b"],
    ["a tag", "80"],
  ])("%s does not reach past its end", (_, hex) => {
    expect(() => read(inner(hex))).toThrow();
  });
});

test("the numbers of a repeated field are read packed and one by one", () => {
  const into = new Int32Array(4);
  let count = 0;
  const bytes = Uint8Array.from([0x0a, 3, 1, 0x80, 1, 0x08, 7]);
  eachField(bytes, (_, wireType, reader) => {
    count = reader.int32s(wireType, into, count);
    return true;
  });
  expect([count, ...into]).toEqual([3, 1, 128, 7, 0]);
  expect(() =>
    eachField(Uint8Array.from([0x0a, 1, 0x80]), (_, wireType, reader) => {
      reader.int32s(wireType, into, 0);
      return true;
    }),
  ).toThrow();
});

test("numbers for which there is no space are counted", () => {
  const into = new Int32Array(2);
  let count = 0;
  eachField(Uint8Array.from([0x0a, 4, 1, 2, 3, 4]), (_, wireType, reader) => {
    count = reader.int32s(wireType, into, 0);
    return true;
  });
  expect([count, ...into]).toEqual([4, 1, 2]);
});
