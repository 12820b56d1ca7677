import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageInitShape,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { anyPack, FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { isWrapperMessage } from "../../../../src/runtime/json/field-names.ts";

/** What random messages may hold. */
export interface RandomOptions {
  /** Only what a query can hold: no maps, no lists of messages, nothing without a text. */
  readonly queryOnly?: boolean;
  /** Only texts that fit into one segment of a path: no control characters, slashes and dots. */
  readonly pathSafe?: boolean;
  /** What an Any holds. */
  readonly any?: DescMessage;
}

/** How deep messages are nested. */
const DEPTH = 2;

/**
 * Random messages of any type, field by field. What no JSON can say is left out: -0, digits
 * that a float has not, text that is not Unicode, and the map key `__proto__`.
 */
export function randomMessage(
  desc: DescMessage,
  options: RandomOptions = {},
  depth = DEPTH,
): fc.Arbitrary<Message> {
  const own = OWN[desc.typeName]?.(desc, options);
  if (own !== undefined) return own;
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  const required: string[] = [];
  for (const field of desc.fields) {
    if (field.oneof !== undefined) continue;
    const value = fieldValue(field, options, depth);
    if (value === undefined) continue;
    fields[field.localName] = value;
    if (field.presence === Presence.LEGACY_REQUIRED) required.push(field.localName);
  }
  for (const oneof of desc.oneofs) {
    const cases = oneof.fields.flatMap((field) => {
      const value = fieldValue(field, options, depth);
      return value === undefined
        ? []
        : [value.map((one) => ({ case: field.localName, value: one }))];
    });
    if (cases.length > 0) fields[oneof.localName] = fc.oneof(...cases);
  }
  const messages = fc
    .record(fields, { requiredKeys: required })
    .map((values) => create(desc, values as MessageInitShape<DescMessage>));
  const isWhole = depth === DEPTH && options.queryOnly === true;
  return isWhole ? messages.filter((one) => leavesOf(toJson(desc, one)) <= MAX_LEAVES) : messages;
}

/** A query has at most 256 parameters, and no more bytes than a request line may have. */
const MAX_LEAVES = 150;

function leavesOf(json: unknown): number {
  if (typeof json !== "object" || json === null) return 1;
  return Object.values(json).reduce((sum: number, value) => sum + leavesOf(value), 0);
}

function fieldValue(
  field: DescField,
  options: RandomOptions,
  depth: number,
): fc.Arbitrary<unknown> | undefined {
  const { message, scalar } = field;
  switch (field.fieldKind) {
    case "list": {
      if (message !== undefined && (depth === 0 || (options.queryOnly && !isText(message)))) {
        return undefined;
      }
      const item = itemValue(field, options, depth);
      return fc.array(item, { maxLength: 3 });
    }
    case "map": {
      if (options.queryOnly || (message !== undefined && depth === 0)) return undefined;
      const key = scalarValue(field.mapKey, options).map(String);
      return fc.dictionary(key, itemValue(field, options, depth), { maxKeys: 3 }).map((map) => {
        const keys = Object.keys(map).filter((key) => key !== "__proto__");
        return Object.fromEntries(keys.map((key) => [key, map[key]]));
      });
    }
    case "message":
      if (depth === 0 || (options.queryOnly && isOpaque(field.message))) return undefined;
      return singleMessage(field, options, depth);
    case "scalar":
      return scalarValue(scalar ?? ScalarType.STRING, options);
    case "enum":
      return itemValue(field, options, depth);
  }
}

/** Of one field protobuf-es keeps what a wrapper holds, and a Struct as JSON. */
function singleMessage(
  field: DescField & { message: DescMessage },
  options: RandomOptions,
  depth: number,
): fc.Arbitrary<unknown> {
  const { message, oneof } = field;
  const value = message.fields[0];
  if (isWrapperMessage(message) && oneof === undefined && value?.scalar !== undefined) {
    return scalarValue(value.scalar, options);
  }
  const messages = randomMessage(message, options, depth - 1);
  return message.typeName === "google.protobuf.Struct"
    ? messages.map((one) => toJson(message, one))
    : messages;
}

function itemValue(
  { message, enum: values, scalar }: DescField,
  options: RandomOptions,
  depth: number,
): fc.Arbitrary<unknown> {
  if (message !== undefined) return randomMessage(message, options, depth - 1);
  if (scalar !== undefined) return scalarValue(scalar, options);
  const known = (values?.values ?? []).map((value) => value.number);
  const isNull = values?.typeName === "google.protobuf.NullValue";
  return values?.open === true && !isNull
    ? fc.oneof(fc.constantFrom(...known), fc.integer())
    : fc.constantFrom(...known);
}

const TEXT = /^google\.protobuf\.(Timestamp|Duration|FieldMask|.*Value)$/;
const OPAQUE = /^google\.protobuf\.(Struct|Value|ListValue|Any)$/;

function isText({ typeName }: DescMessage): boolean {
  return TEXT.test(typeName) && !OPAQUE.test(typeName);
}

function isOpaque({ typeName }: DescMessage): boolean {
  return OPAQUE.test(typeName);
}

/** Any Unicode but NUL, which no query holds. */
const text = fc
  .string({ unit: "binary", maxLength: 8 })
  .map((value) => Buffer.from(value).toString().replaceAll("\u0000", ""));
const segment = text.map((value) => value.replace(/[\u0000-\u001f\u007f-\u009f./\\]/g, "_"));
const number = fc.double().map((value) => (Object.is(value, -0) ? 0 : value));
const finite = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? 0 : value));

function scalarValue(
  scalar: ScalarType,
  { pathSafe = false }: RandomOptions,
): fc.Arbitrary<string | number | bigint | boolean | Uint8Array> {
  switch (scalar) {
    case ScalarType.STRING:
      return pathSafe ? segment : text;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 }).map((bytes) => new Uint8Array(bytes));
    case ScalarType.FLOAT:
      return number.map(Math.fround).map((value) => (Object.is(value, -0) ? 0 : value));
    case ScalarType.DOUBLE:
      return number;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat(0xffffffff);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt(0n, 2n ** 64n - 1n);
    default:
      return fc.integer();
  }
}

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant({ kind: { case: "nullValue", value: 0 } }),
    fc.boolean().map((value) => ({ kind: { case: "boolValue", value } })),
    finite.map((value) => ({ kind: { case: "numberValue", value } })),
    text.map((value) => ({ kind: { case: "stringValue", value } })),
    tie("struct").map((value) => ({ kind: { case: "structValue", value } })),
    tie("list").map((value) => ({ kind: { case: "listValue", value } })),
  ),
  struct: fc
    .dictionary(fc.constantFrom("a", "b", "", "@type", "é"), tie("value"), { maxKeys: 2 })
    .map((fields) => ({ fields: { ...fields } })),
  list: fc.array(tie("value"), { maxLength: 2 }).map((values) => ({ values })),
})) as unknown as fc.Arbitrary<unknown>;

const { value, struct, list } = json as unknown as Record<string, fc.Arbitrary<object>>;
const nanos = fc.nat(999_999_999);

/** Messages of which not every value means something, or that JSON writes in a form of their own. */
const OWN: Readonly<
  Record<string, (desc: DescMessage, options: RandomOptions) => fc.Arbitrary<Message> | undefined>
> = {
  "google.protobuf.Timestamp": (desc) =>
    fc
      .record({ seconds: fc.bigInt(-62135596800n, 253402300799n), nanos })
      .map((init) => create(desc, init as never)),
  "google.protobuf.Duration": (desc) =>
    fc
      .record({ seconds: fc.bigInt(0n, 315576000000n - 1n), nanos, isNegative: fc.boolean() })
      .map(({ seconds, nanos, isNegative }) =>
        create(
          desc,
          (isNegative ? { seconds: -seconds, nanos: 0 - nanos } : { seconds, nanos }) as never,
        ),
      ),
  "google.protobuf.FieldMask": (desc) =>
    fc
      .array(fc.constantFrom("a", "foo_bar", "a.b_c", "x1"), { maxLength: 3 })
      .map((paths) => create(desc, { paths } as never)),
  "google.protobuf.Value": (desc) => value?.map((init) => create(desc, init as never)),
  "google.protobuf.Struct": (desc) => struct?.map((init) => create(desc, init as never)),
  "google.protobuf.ListValue": (desc) => list?.map((init) => create(desc, init as never)),
  "google.protobuf.Any": (desc, { any }) =>
    any === undefined
      ? fc.constant(create(desc))
      : fc.oneof(
          fc.constant(create(desc)),
          randomMessage(any, {}, 1).map((message) => anyPack(any, message)),
        ),
};
