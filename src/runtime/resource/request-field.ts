import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { AccessResourcePart } from "../../api/format.ts";
import { segmentIndex, segmentReader } from "../../api/name-pattern.ts";
import { ServiceError } from "../error/service-error.ts";

/**
 * Reads a field out of a request, as text; undefined if it is absent or empty.
 *
 * @throws ServiceError INVALID_ARGUMENT for an enum number without a name, and for a number that is
 * not in canonical form
 */
export type FieldReader = (request: unknown) => string | undefined;

/** Reads a property of a message; undefined if it is absent. */
type Getter = (message: Record<string, unknown>) => unknown;

/**
 * Makes the reader of a field by its path in protobuf names. A field without
 * presence that has its zero value is absent: on the wire the two are the same.
 *
 * @throws Error that says why the path can never be read
 */
export function requestField(input: DescMessage, path: string): FieldReader {
  const segments = path.split(".");
  const getters: Getter[] = [];
  let message = input;
  let field = fieldOf(message, segments[0] as string);
  getters.push(getterOf(field));
  for (const segment of segments.slice(1)) {
    if (field.fieldKind !== "message") {
      throw new Error(`"${field.name}" is not a singular message, so it has no field "${segment}"`);
    }
    message = field.message;
    // protobuf-es keeps the value itself if a field is a wrapper, except in a oneof.
    const isUnwrapped = isWrapperDesc(message) && field.oneof === undefined;
    field = fieldOf(message, segment);
    if (!isUnwrapped) getters.push(getterOf(field));
  }
  const format = formatterOf(field, path);
  return (request) => {
    let value = request;
    for (let index = 0; index < getters.length; index++) {
      value = (getters[index] as Getter)(value as Record<string, unknown>);
      if (value === undefined) return undefined;
    }
    return format(value);
  };
}

function fieldOf(message: DescMessage, name: string): DescField {
  const field = message.fields.find((candidate) => candidate.name === name);
  if (field === undefined) throw new Error(`"${name}" is not a field of ${message.typeName}`);
  return field;
}

const IMPLICIT = 2;

function getterOf(field: DescField): Getter {
  const name = field.localName;
  if (field.oneof !== undefined) {
    const group = field.oneof.localName;
    return (message) => {
      const member = message[group] as { case?: string; value?: unknown };
      return member.case === name ? member.value : undefined;
    };
  }
  if (field.presence !== IMPLICIT) {
    // The default value of an unset proto2 field is on the prototype.
    return (message) => (Object.hasOwn(message, name) ? message[name] : undefined);
  }
  return (message) => {
    const value = message[name];
    // Longs are bigints, or strings with jstype; an enum without presence is open, so its zero is 0.
    return value === 0 || value === 0n || value === "0" ? absent(field, value) : value;
  };
}

/** Of a string field `"0"` is a value like any other. */
function absent(field: DescField, value: unknown): unknown {
  return field.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? value : undefined;
}

function formatterOf(field: DescField, path: string): (value: unknown) => string | undefined {
  if (field.fieldKind === "enum") {
    const names = new Map(field.enum.values.map(({ number, name }) => [number, name]));
    return (value) => {
      const name = names.get(value as number);
      if (name !== undefined) return name;
      throw new ServiceError(
        "INVALID_ARGUMENT",
        `the field ${path} has the number ${String(value)}, which ${field.enum.typeName} does not define`,
      );
    };
  }
  if (field.fieldKind !== "scalar" || !CHECKABLE.has(field.scalar)) {
    const what =
      field.fieldKind === "scalar" ? ScalarType[field.scalar].toLowerCase() : field.fieldKind;
    throw new Error(`{${path}} is a ${what}; a placeholder names a string, integer or enum field`);
  }
  if (field.scalar !== ScalarType.STRING) return (value) => plainNumber(value, path);
  return (value) => (value === "" ? undefined : (value as string));
}

const PLAIN_NUMBER = /^(?:0|-?[1-9][0-9]*)$/;

/** Longs with jstype are text as JSON had it: "01" would be checked as another object than "1". */
function plainNumber(value: unknown, path: string): string {
  const text = String(value);
  if (typeof value !== "string" || PLAIN_NUMBER.test(text)) return text;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    `the field ${path} must be a number without leading zeros`,
  );
}

const CHECKABLE: ReadonlySet<ScalarType> = new Set([
  ScalarType.STRING,
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
  ScalarType.SINT32,
  ScalarType.SINT64,
  ScalarType.FIXED32,
  ScalarType.FIXED64,
  ScalarType.SFIXED32,
  ScalarType.SFIXED64,
]);

/**
 * Makes the reader of one segment of a resource name: of `merchants/1/ledgers/2` the segment
 * `merchants` is `1`. In every protocol, the whole name must match a pattern of the RPC.
 *
 * @throws Error that says why the segment can never be read
 */
export function nameSegment(
  field: FieldReader,
  { path, segment, patterns }: Extract<AccessResourcePart, { kind: "segment" }>,
): FieldReader {
  if (patterns.length === 0) throw new Error(`{${path}.${segment}} has no pattern to match`);
  const readers = patterns.map((pattern) => {
    const place = segmentIndex(pattern, segment);
    if (place.index === undefined) throw new Error(`{${path}.${segment}}: ${place.error}`);
    return segmentReader(pattern, place.index);
  });
  return (request) => {
    const name = field(request);
    if (name === undefined) return undefined;
    let found: string | undefined;
    for (const read of readers) {
      const text = read(name);
      if (text === undefined) continue;
      // Overlapping patterns may have the segment at two places; then no object is identified.
      if (found !== undefined && found !== text) throw mismatch(path, patterns);
      found = text;
    }
    if (found === undefined) throw mismatch(path, patterns);
    return found;
  };
}

function mismatch(path: string, patterns: readonly string[]): ServiceError {
  return new ServiceError(
    "INVALID_ARGUMENT",
    `the field ${path} must be a name of the form ${patterns.join(" or ")}`,
  );
}
