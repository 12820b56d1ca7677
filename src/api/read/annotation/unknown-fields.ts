import { ANNOTATION } from "../../../gen/annotation.ts";
import { eachField, WireType } from "../../descriptors/wire.ts";
import type { DefinedField } from "./definition.ts";

/** A field in an option that this version does not know. */
export interface UnknownField {
  /** The field in words: `the field 7 of svc.access.v1.Audit`. */
  readonly what: string;
  /** The field numbers that lead to it. */
  readonly path: readonly number[];
}

interface KnownField {
  readonly wireType: WireType;
  /** The full name of the message in it. */
  readonly message?: string;
}

const MESSAGES: ReadonlyMap<string, ReadonlyMap<number, KnownField>> = new Map(
  ANNOTATION.messages.map(({ name, fields }) => [
    name,
    new Map(fields.map((field) => [field.number, knownField(field)])),
  ]),
);

const ROOT = messageOf(ANNOTATION.extensions[0]?.field.type ?? "") ?? "";

/**
 * The fields of an encoded policy that this version does not know, at any
 * depth: a field of a later version may restrict access to the RPC.
 *
 * @param occurrences - each occurrence of the option
 */
export function unknownFields(occurrences: readonly Uint8Array[]): UnknownField[] {
  const unknown: UnknownField[] = [];
  for (const bytes of occurrences) collect(bytes, ROOT, [], unknown);
  return unknown;
}

function collect(
  bytes: Uint8Array,
  message: string,
  path: readonly number[],
  unknown: UnknownField[],
): void {
  const fields = MESSAGES.get(message);
  eachField(bytes, (number, wireType, reader) => {
    const known = fields?.get(number);
    if (known === undefined || known.wireType !== wireType) {
      const how = known === undefined ? "" : ", as it is encoded here,";
      unknown.push({ what: `the field ${number} of ${message}${how}`, path: [...path, number] });
      return false;
    }
    if (known.message === undefined) return false;
    collect(reader.bytes(), known.message, [...path, number], unknown);
    return true;
  });
}

function knownField({ type }: DefinedField): KnownField {
  const message = messageOf(type);
  if (message !== undefined) return { wireType: WireType.LengthDelimited, message };
  return { wireType: type === "string" ? WireType.LengthDelimited : WireType.Varint };
}

/** The name of the message in a type such as `message svc.access.v1.Authz`. */
function messageOf(type: string): string | undefined {
  return type.startsWith("message ") ? type.slice("message ".length) : undefined;
}
