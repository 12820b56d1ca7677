import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { emptyMessageBytes, leastElements, valueBytes } from "./message-memory.ts";

/** How a packed field on the wire is counted. */
export interface PackedPlan {
  /** How many values some bytes are. */
  count(bytes: Uint8Array, start: number, end: number): number;
  /** Whether each value is an element; otherwise so are 16 bytes. */
  readonly isElement: boolean;
}

/** How a field on the wire is counted. */
export interface FieldPlan {
  /** Absent within well-known types and entries of maps, which requests in JSON do not name. */
  readonly name?: string;
  /** What one value takes in memory, in bytes, beside what it holds: see `valueBytes`. */
  readonly bytes: number;
  readonly isList?: boolean;
  readonly isText?: boolean;
  readonly isMap?: boolean;
  /** Of the key of a map's entry: how numbers are written. */
  readonly key?: "plain" | "zigzag";
  /** Of a field that holds messages: those of the message's fields. */
  readonly message?: () => MessagePlan;
  readonly packed?: PackedPlan;
}

/** How the fields of a message are counted, by their numbers. */
export interface MessagePlan {
  readonly fields: ReadonlyMap<number, FieldPlan>;
  /** What the message counts beside the one of its own field. */
  readonly extra: number;
  /** What it takes in memory without any value, in bytes. */
  readonly bytes: number;
}

const plans = new WeakMap<DescMessage, MessagePlan>();

/** How the fields of a message are counted. Computed once for each type. */
export function planOf(message: DescMessage): MessagePlan {
  let plan = plans.get(message);
  if (plan === undefined) {
    plan = {
      fields: new Map(message.fields.map((field) => [field.number, namedPlan(field)])),
      extra: Math.max(0, leastElements(message) - 1),
      bytes: emptyMessageBytes(message),
    };
    plans.set(message, plan);
  }
  return plan;
}

function namedPlan(field: DescField): FieldPlan {
  const plan = planOfField(field);
  if (field.parent.typeName.startsWith("google.protobuf.")) return plan;
  return { ...plan, name: field.name };
}

function planOfField(field: DescField): FieldPlan {
  const { message, scalar } = field;
  const bytes = valueBytes(field);
  const isText = scalar === ScalarType.STRING;
  if (field.fieldKind === "map") {
    const value: FieldPlan =
      message === undefined ? { bytes: 0, isText } : { bytes: 0, message: () => planOf(message) };
    const key: FieldPlan = {
      bytes: 0,
      isText: field.mapKey === ScalarType.STRING,
      key:
        field.mapKey === ScalarType.SINT32 || field.mapKey === ScalarType.SINT64
          ? "zigzag"
          : "plain",
    };
    const entry = {
      fields: new Map([
        [1, key],
        [2, value],
      ]),
      extra: 0,
      // An absent value is created.
      bytes: message === undefined ? 0 : emptyMessageBytes(message),
    };
    return { bytes, isMap: true, message: () => entry };
  }
  if (field.fieldKind !== "list") {
    return message === undefined ? { bytes, isText } : { bytes, message: () => planOf(message) };
  }
  if (message !== undefined) return { bytes, isList: true, message: () => planOf(message) };
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { bytes, isList: true, isText };
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
      return { bytes, isList: true, packed: { count: varints, isElement: true } };
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { bytes, isList: true, packed: { count: fixed(8), isElement: true } };
    case ScalarType.DOUBLE:
      return { bytes, isList: true, packed: { count: fixed(8), isElement: false } };
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return { bytes, isList: true, packed: { count: fixed(4), isElement: false } };
    default:
      return { bytes, isList: true, packed: { count: varints, isElement: false } };
  }
}

function fixed(size: number) {
  return (_bytes: Uint8Array, start: number, end: number): number => (end - start) / size;
}

function varints(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if ((bytes[at] as number) < 0x80) count++;
  return count;
}
