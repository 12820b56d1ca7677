import type { DescField, DescMessage } from "@bufbuild/protobuf";

const known = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** The fields of a message by their protobuf names and by their JSON names: JSON accepts both. */
export function fieldsByName(message: DescMessage): ReadonlyMap<string, DescField> {
  let fields = known.get(message);
  if (fields === undefined) {
    const table = new Map<string, DescField>();
    // Protobuf names last: they take precedence if one is the JSON name of another field.
    for (const field of message.fields) table.set(field.jsonName, field);
    for (const field of message.fields) table.set(field.name, field);
    known.set(message, (fields = table));
  }
  return fields;
}

/**
 * Whether the JSON form of a message is not an object of its fields: Timestamp, wrappers and the
 * like.
 */
export function hasOwnJsonForm(message: DescMessage): boolean {
  return OWN_FORM.has(message.typeName);
}

/** Whether a message is one of the wrappers, which JSON writes as their value. */
export function isWrapperMessage({ typeName }: DescMessage): boolean {
  return WRAPPER.test(typeName);
}

const WRAPPER = /^google\.protobuf\.(?:Bool|Bytes|Double|Float|U?Int32|U?Int64|String)Value$/;

const OWN_FORM: ReadonlySet<string> = new Set(
  [
    "Any",
    "Timestamp",
    "Duration",
    "FieldMask",
    "Struct",
    "Value",
    "ListValue",
    "BoolValue",
    "BytesValue",
    "DoubleValue",
    "FloatValue",
    "Int32Value",
    "Int64Value",
    "StringValue",
    "UInt32Value",
    "UInt64Value",
  ].map((name) => `google.protobuf.${name}`),
);
