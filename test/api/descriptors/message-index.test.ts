import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { readFileOutline } from "../../../src/api/descriptors/file-outline.ts";
import { MessageIndex } from "../../../src/api/descriptors/message-index.ts";
import type { FieldLookup } from "../../../src/api/field.ts";
import { encode, encodeFile } from "../descriptors.ts";

type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;

function field(name: string, type: Type, typeName?: string, label = Label.OPTIONAL) {
  return { name, type, label, ...(typeName === undefined ? {} : { typeName }) };
}

function indexOf(packages: Readonly<Record<string, readonly MessageInit[]>>): MessageIndex {
  const files = Object.entries(packages).map(([packageName, messages], index) => {
    const file = { name: `file${index}.proto`, package: packageName, messageType: [...messages] };
    return readFileOutline({ bytes: encodeFile(file), target: index === 0 });
  });
  return new MessageIndex(files);
}

const found = (kind: string, type?: string, repeated = false) => {
  return {
    status: "found",
    kind,
    repeated,
    ...(type === undefined ? {} : { type }),
  } as FieldLookup;
};

const index = indexOf({
  "hub.v1": [
    {
      name: "Request",
      field: [
        field("id", Type.STRING),
        field("names", Type.STRING, undefined, Label.REPEATED),
        field("required", Type.INT64, undefined, Label.REQUIRED),
        field("inner", Type.MESSAGE, ".hub.v1.Request.Inner"),
        field("inners", Type.MESSAGE, ".hub.v1.Request.Inner", Label.REPEATED),
        field("part", Type.GROUP, ".hub.v1.Request.Part"),
        field("labels", Type.MESSAGE, ".hub.v1.Request.LabelsEntry", Label.REPEATED),
        field("color", Type.ENUM, ".hub.v1.Color"),
        field("shared", Type.MESSAGE, ".common.Shared"),
        field("lost", Type.MESSAGE, ".lost.Lost"),
        { ...field("left", Type.STRING), oneofIndex: 0 },
        { ...field("right", Type.UINT64), oneofIndex: 0 },
      ],
      oneofDecl: [{ name: "choice" }],
      nestedType: [
        {
          name: "Inner",
          field: [
            field("number", Type.SFIXED32),
            field("inner", Type.MESSAGE, ".hub.v1.Request.Inner"),
          ],
          nestedType: [{ name: "Deep", field: [field("ok", Type.BOOL)] }],
        },
        { name: "Part", field: [field("of_group", Type.BYTES)] },
        {
          name: "LabelsEntry",
          field: [field("key", Type.STRING), field("value", Type.STRING)],
          options: { mapEntry: true },
        },
      ],
    },
  ],
  common: [{ name: "Shared", field: [field("root", Type.MESSAGE, ".Root")] }],
  "": [{ name: "Root", field: [field("far", Type.FIXED64)] }],
});

describe("a field path", () => {
  test.each([
    ["id", found("string")],
    ["names", found("string", undefined, true)],
    ["required", found("int64")],
    ["inner", found("message", "hub.v1.Request.Inner")],
    ["inner.number", found("sfixed32")],
    ["inner.inner.inner.inner.number", found("sfixed32")],
    ["inners", found("message", "hub.v1.Request.Inner", true)],
    ["part", found("message", "hub.v1.Request.Part")],
    ["part.of_group", found("bytes")],
    ["labels", found("message", "hub.v1.Request.LabelsEntry", true)],
    ["color", found("enum", "hub.v1.Color")],
    ["left", found("string")],
    ["right", found("uint64")],
    ["shared.root.far", found("fixed64")],
    ["lost", found("message", "lost.Lost")],
  ])("%s leads to its field", (path, expected) => {
    expect(index.lookup("hub.v1.Request", path)).toEqual(expected);
  });

  test.each<[string, FieldLookup]>([
    ["skill", { status: "unknown", segment: "skill", message: "hub.v1.Request" }],
    [
      "naems",
      { status: "unknown", segment: "naems", message: "hub.v1.Request", suggestion: "names" },
    ],
    [
      "inner.numbr",
      {
        status: "unknown",
        segment: "numbr",
        message: "hub.v1.Request.Inner",
        suggestion: "number",
      },
    ],
    ["choice", { status: "unknown", segment: "choice", message: "hub.v1.Request" }],
    ["id.x", { status: "not_a_message", segment: "id", kind: "string", repeated: false }],
    [
      "inners.number",
      { status: "not_a_message", segment: "inners", kind: "message", repeated: true },
    ],
    ["labels.key", { status: "not_a_message", segment: "labels", kind: "message", repeated: true }],
    ["color.red", { status: "not_a_message", segment: "color", kind: "enum", repeated: false }],
    ["lost.id", { status: "no_message", message: "lost.Lost" }],
  ])("%s says why it leads to none", (path, expected) => {
    expect(index.lookup("hub.v1.Request", path)).toMatchObject(expected);
  });

  test.each(["", ".", "id.", ".id", "__proto__", "constructor", "Inner"])(
    "%j leads to none",
    (path) => {
      expect(index.lookup("hub.v1.Request", path).status).not.toBe("found");
    },
  );
});

describe("a message", () => {
  test.each([
    "hub.v1.Missing",
    "hub.v1",
    "hub",
    "Request",
    "",
    "hub.v1.Request.Missing",
    "hub.v1.Request.inner",
    ".hub.v1.Request",
  ])("%j that the input does not contain is reported as missing", (message) => {
    expect(index.lookup(message, "id")).toEqual({ status: "no_message", message });
    expect(index.fileOf(message)).toBeUndefined();
  });

  test.each([
    ["hub.v1.Request", "file0.proto"],
    ["hub.v1.Request.Inner.Deep", "file0.proto"],
    ["common.Shared", "file1.proto"],
    ["Root", "file2.proto"],
  ])("%s is of the file that declares it, also an imported one", (message, file) => {
    expect(index.fileOf(message)?.name).toBe(file);
  });

  test("is found in a package inside another, and nested in a message that is named as that package", () => {
    const nested = indexOf({
      a: [
        {
          name: "b",
          field: [field("in_a_b", Type.STRING)],
          nestedType: [{ name: "d", field: [field("in_a_b_d", Type.STRING)] }],
        },
      ],
      "a.b": [{ name: "c", field: [field("in_a_b_c", Type.STRING)] }],
    });
    expect(nested.lookup("a.b.c", "in_a_b_c")).toEqual(found("string"));
    expect(nested.lookup("a.b", "in_a_b")).toEqual(found("string"));
    expect(nested.lookup("a.b.d", "in_a_b_d")).toEqual(found("string"));
    expect(nested.lookup("a.b.x", "id")).toEqual({ status: "no_message", message: "a.b.x" });
  });

  test("is found in each of the files of its package", () => {
    const files = ["One", "Two"].map((name) =>
      readFileOutline({
        bytes: encodeFile({
          name: `${name}.proto`,
          package: "a",
          messageType: [{ name, field: [field("id", Type.STRING)] }],
        }),
        target: false,
      }),
    );
    const both = new MessageIndex(files);
    expect(both.lookup("a.Two", "id")).toEqual(found("string"));
    expect(both.lookup("a.One", "id")).toEqual(found("string"));
  });

  test("whose field has an unknown type lacks only that field", () => {
    const id = encode([1, "id"], [5, Type.STRING]);
    const future = encode([1, "future"], [5, 99]);
    const message = encode([1, "M"], [2, future], [2, id]);
    const file = { bytes: encode([1, "a.proto"], [2, "a"], [4, message]), target: true };
    const later = new MessageIndex([readFileOutline(file)]);
    expect(later.lookup("a.M", "id")).toEqual(found("string"));
    expect(later.lookup("a.M", "future").status).toBe("unknown");
  });

  test("that nests as deep as protoc allows is found, and a deeper one is an error of one line", () => {
    const nest = (depth: number): Uint8Array =>
      depth === 0 ? encode([1, "M"]) : encode([1, "M"], [3, nest(depth - 1)]);
    const deep = (depth: number) => {
      const bytes = encode([1, "a.proto"], [2, "a"], [4, nest(depth)]);
      return new MessageIndex([readFileOutline({ bytes, target: true })]);
    };
    const name = (depth: number) => `a${".M".repeat(depth + 1)}`;
    expect(deep(30).lookup(name(30), "id").status).toBe("unknown");
    expect(() => deep(5000).lookup(name(1), "id")).toThrow("nest more than 100 deep");
  });
});

describe("a field with debug_redact", () => {
  const secret = { ...field("secret", Type.STRING), options: { debugRedact: true } };
  const shown = { ...field("shown", Type.STRING), options: { debugRedact: false } };
  const to = (type: string) => field("inner", Type.MESSAGE, `.${type}`);
  const redacting = indexOf({
    a: [
      { name: "Direct", field: [shown, secret] },
      { name: "Far", field: [field("id", Type.STRING), to("b.Middle")] },
      {
        name: "Map",
        field: [field("map", Type.MESSAGE, ".a.Map.MapEntry", Label.REPEATED)],
        nestedType: [
          {
            name: "MapEntry",
            field: [field("key", Type.STRING), field("value", Type.MESSAGE, ".a.Direct")],
            options: { mapEntry: true },
          },
        ],
      },
      { name: "Plain", field: [shown, to("a.Plain"), field("color", Type.ENUM, ".a.Direct")] },
      { name: "Lost", field: [to("a.Nobody")] },
    ],
    b: [{ name: "Middle", field: [to("a.Far"), to("a.Direct")] }],
  });

  test.each([
    ["a.Direct", true],
    ["a.Far", true],
    ["a.Map", true],
    ["a.Plain", false],
    // Unknown.
    ["a.Lost", true],
  ])("is found in %s: %s", (message, expected) => {
    expect(redacting.holdsRedacted(message)).toBe(expected);
  });

  test("is found over a path of any length", () => {
    const messages = Array.from({ length: 20_000 }, (_, index) => ({
      name: `M${index}`,
      field: [index === 19_999 ? secret : to(`a.M${index + 1}`)],
    }));
    expect(indexOf({ a: messages }).holdsRedacted("a.M0")).toBe(true);
  });

  test("does not change the field that a path names", () => {
    expect(redacting.lookup("a.Direct", "secret")).toEqual(found("string"));
  });
});
