import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";

/** How the text of a path or a query becomes the JSON of a field. */
export interface FieldText {
  /** What the text must be, such as `an int32`. */
  readonly expected: string;
  /** The JSON value; undefined where the text is none of the field. Its range is checked by protobuf-es. */
  read(text: string): JsonValue | undefined;
}

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const NOT_FINITE = /^(?:NaN|-?Infinity)$/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const STRING: FieldText = { expected: "a string", read: (text) => text };

const BOOL: FieldText = {
  expected: "true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

const BYTES: FieldText = {
  expected: "bytes in base64",
  read: (text) => (BASE64.test(text) ? text : undefined),
};

function integer(expected: string): FieldText {
  return { expected, read: (text) => (INTEGER.test(text) ? text : undefined) };
}

function float(expected: string): FieldText {
  return {
    expected,
    read: (text) => (NUMBER.test(text) || NOT_FINITE.test(text) ? text : undefined),
  };
}

const SCALARS: Readonly<Record<ScalarType, FieldText>> = {
  [ScalarType.STRING]: STRING,
  [ScalarType.BOOL]: BOOL,
  [ScalarType.BYTES]: BYTES,
  [ScalarType.INT32]: integer("an int32"),
  [ScalarType.SINT32]: integer("an int32"),
  [ScalarType.SFIXED32]: integer("an int32"),
  [ScalarType.UINT32]: integer("a uint32"),
  [ScalarType.FIXED32]: integer("a uint32"),
  [ScalarType.INT64]: integer("an int64"),
  [ScalarType.SINT64]: integer("an int64"),
  [ScalarType.SFIXED64]: integer("an int64"),
  [ScalarType.UINT64]: integer("a uint64"),
  [ScalarType.FIXED64]: integer("a uint64"),
  [ScalarType.FLOAT]: float("a float"),
  [ScalarType.DOUBLE]: float("a double"),
};

/** Messages that JSON writes as a string. */
const TEXT_MESSAGES: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "a time such as 2026-01-31T12:00:00Z",
  "google.protobuf.Duration": "a duration such as 1.5s",
  "google.protobuf.FieldMask": "a field mask such as displayName,labels",
};

const WRAPPER = /^google\.protobuf\.(?:Bool|Bytes|Double|Float|U?Int32|U?Int64|String)Value$/;

/** How text becomes a field, or one element of it; undefined where the field cannot be written as text. */
export function fieldText(field: DescField): FieldText | undefined {
  switch (field.fieldKind) {
    case "scalar":
      return SCALARS[field.scalar];
    case "enum":
      return enumText(field.enum.name);
    case "message":
      return messageText(field.message);
    case "list":
      if (field.listKind === "scalar") return SCALARS[field.scalar];
      return field.listKind === "enum" ? enumText(field.enum.name) : messageText(field.message);
    case "map":
      return undefined;
  }
}

function enumText(name: string): FieldText {
  return {
    expected: `the name or the number of a ${name}`,
    read: (text) => (INTEGER.test(text) ? Number(text) : text),
  };
}

function messageText(message: DescMessage): FieldText | undefined {
  const { typeName } = message;
  const value = WRAPPER.test(typeName) ? message.fields[0] : undefined;
  if (value?.fieldKind === "scalar") return SCALARS[value.scalar];
  const expected = Object.hasOwn(TEXT_MESSAGES, typeName) ? TEXT_MESSAGES[typeName] : undefined;
  return expected === undefined ? undefined : { expected, read: (text) => text };
}
