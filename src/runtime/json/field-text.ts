import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isBase64 } from "./exact-scalar.ts";
import { isWrapperMessage } from "./field-names.ts";

/** How the text of a path or a query becomes the JSON of a field. */
export interface FieldText {
  /** What the text must be, such as `an int32`. */
  readonly expected: string;
  /**
   * The JSON value; undefined if the text is not valid for the field. protobuf-es checks its range.
   */
  read(text: string): JsonValue | undefined;
}

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const NOT_FINITE = /^(?:NaN|-?Infinity)$/;
/** As in RFC 3339; protobuf-es checks everything except the day, and hour 24. */
const DAY_AND_HOUR = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2})/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DURATION = /^-?[0-9]+(?:\.[0-9]+)?s$/;

const STRING: FieldText = { expected: "a string", read: (text) => text };

const BOOL: FieldText = {
  expected: "true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

const BYTES: FieldText = {
  expected: "bytes in base64",
  read: (text) => (isBase64(text) ? text : undefined),
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
const TEXT_MESSAGES: Readonly<Record<string, FieldText>> = {
  "google.protobuf.Timestamp": {
    expected: "a time such as 2026-01-31T12:00:00Z",
    read: (text) => (isTimeText(text) ? text : undefined),
  },
  "google.protobuf.Duration": {
    expected: "a duration such as 1.5s",
    read: (text) => (isDurationText(text) ? text : undefined),
  },
  "google.protobuf.FieldMask": {
    expected: "a field mask such as displayName,labels",
    read: maskText,
  },
};

/** How text becomes a field, or one element of it; undefined if the field cannot be written as text. */
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
  const value = isWrapperMessage(message) ? message.fields[0] : undefined;
  if (value?.fieldKind === "scalar") return SCALARS[value.scalar];
  return Object.hasOwn(TEXT_MESSAGES, typeName) ? TEXT_MESSAGES[typeName] : undefined;
}

/**
 * A field mask in JSON form. In a path or a query its fields may have their protobuf names, like
 * parameters.
 *
 * @returns undefined if a name mixes both forms
 */
function maskText(text: string): string | undefined {
  if (!text.includes("_")) return text;
  const paths = text.split(",");
  if (paths.some((path) => path.includes("_") && /[A-Z]/.test(path))) return undefined;
  return paths
    .map((path) => path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .join(",");
}

/**
 * Whether the day of a time exists in its month, and the hour in the day. protobuf-es checks the
 * rest.
 */
export function isTimeText(text: string): boolean {
  const parts = DAY_AND_HOUR.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0] = parts.slice(1).map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days && hour <= 23;
}

/** Whether a duration has nothing after its unit. Its range is checked by protobuf-es. */
export function isDurationText(text: string): boolean {
  return DURATION.test(text);
}
