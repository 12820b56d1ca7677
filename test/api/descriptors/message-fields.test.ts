import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { MessageFields } from "../../../src/api/descriptors/message-fields.ts";
import { encode } from "../descriptors.ts";

const fieldOf = (name: string, type: number) =>
  [2, encode([1, Buffer.from(name)], [5, type])] as const;

/** A message with a name twice, a name outside ASCII, and a type that no version knows. */
const MESSAGE = encode(
  fieldOf("id", Type.STRING),
  fieldOf("ids", Type.BOOL),
  fieldOf("straße", Type.INT32),
  fieldOf("id", Type.UINT64),
  fieldOf("id", 99),
);

test.each([
  ["id", "uint64"],
  ["ids", "bool"],
  ["straße", "int32"],
  ["i", undefined],
  ["", undefined],
])(
  "the field %j is the same in the first search, in later ones and in all fields",
  (name, kind) => {
    const fields = new MessageFields(MESSAGE);
    for (let search = 0; search < 10; search++) expect(fields.get(name)?.kind).toBe(kind);
    expect(new MessageFields(MESSAGE).all().get(name)?.kind).toBe(kind);
  },
);
