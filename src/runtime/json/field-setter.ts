import {
  create,
  type DescField,
  type DescMessage,
  isFieldSet,
  type Message,
  mergeFromJson,
  ScalarType,
} from "@bufbuild/protobuf";
import { invalidArgument } from "../error/service-error.ts";
import { hasOwnJsonForm, isWrapperMessage } from "./field-names.ts";
import { fieldText } from "./field-text.ts";

/** A message as protobuf-es keeps it: a plain object, a oneof as one property. */
type Properties = Message & Record<string, unknown>;
type OneofValue = { readonly case: string | undefined; readonly value?: unknown };

/**
 * Sets a field, or adds to a repeated one, from the text of a path or a query.
 *
 * @param what how errors name the text: `the path variable "id"`
 */
export type FieldSetter = (message: Message, text: string, what: string) => void;

/**
 * Compiles the setter of a field, without reflection at the time of a call.
 *
 * @returns undefined if the field cannot be written as text, as those of a Timestamp
 */
export function fieldSetter(field: DescField): FieldSetter | undefined {
  const text = fieldText(field);
  if (text === undefined) return undefined;
  const { localName, jsonName, parent } = field;
  const isWrapper = hasOwnJsonForm(parent);
  if (isWrapper && !isWrapperMessage(parent)) return undefined;
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING && !field.oneof) {
    return (message, value) => {
      (message as Properties)[localName] = value;
    };
  }
  const isList = field.fieldKind === "list";
  return (message, value, what) => {
    const json = text.read(value);
    if (json === undefined) throw invalidArgument(`${what} must be ${text.expected}`);
    refuseOtherCase(message as Properties, field, what);
    try {
      const value = isList ? [json] : json;
      mergeFromJson(parent, message, isWrapper ? value : { [jsonName]: value });
    } catch (cause) {
      throw invalidArgument(`${what} must be ${text.expected}`, cause);
    }
  };
}

/** The message in a field; created if there is none. */
export function childOf(message: Message, field: DescField & { message: DescMessage }): Message {
  const properties = message as Properties;
  const { oneof, localName } = field;
  if (oneof === undefined) {
    return (properties[localName] ??= create(field.message)) as Message;
  }
  refuseOtherCase(properties, field, `the field "${field.name}"`);
  const current = properties[oneof.localName] as OneofValue;
  if (current.case === localName) return current.value as Message;
  const value = create(field.message);
  properties[oneof.localName] = { case: localName, value };
  return value;
}

/** The value of a field that is set, else undefined. */
export function valueOf(message: Message, field: DescField): unknown {
  if (!isFieldSet(message, field)) return undefined;
  const properties = message as Properties;
  const { oneof, localName } = field;
  return oneof === undefined
    ? properties[localName]
    : (properties[oneof.localName] as OneofValue).value;
}

/** Without it the last member of a oneof would win, and the other would be lost silently. */
function refuseOtherCase(message: Properties, { oneof, localName }: DescField, what: string): void {
  if (oneof === undefined) return;
  const set = (message[oneof.localName] as OneofValue).case;
  if (set !== undefined && set !== localName) {
    throw invalidArgument(`${what} and another field of "${oneof.name}" cannot both be given`);
  }
}
