/** The kind of a field's value, as protobuf names its scalar types. */
export type FieldKind =
  | "double"
  | "float"
  | "int64"
  | "uint64"
  | "int32"
  | "fixed64"
  | "fixed32"
  | "bool"
  | "string"
  | "message"
  | "bytes"
  | "uint32"
  | "enum"
  | "sfixed32"
  | "sfixed64"
  | "sint32"
  | "sint64";

/** A field of a message that an option names by its dotted path. */
export interface FieldReference {
  /** The path as written: `skill.skill_id`. */
  readonly path: string;
  readonly found: FieldLookup;
}

/** The result of looking up a field path. */
export type FieldLookup =
  | {
      readonly status: "found";
      readonly kind: FieldKind;
      /** Whether the last field of the path is repeated or a map. */
      readonly repeated: boolean;
      /** The full name of the enum or message. */
      readonly type?: string;
    }
  /** A segment of the path is not a field of its message. */
  | {
      readonly status: "unknown";
      readonly segment: string;
      readonly message: string;
      /** The field that is probably meant. */
      readonly suggestion?: string;
    }
  /** A segment before the last is not a singular message. */
  | {
      readonly status: "not_a_message";
      readonly segment: string;
      readonly kind: FieldKind;
      readonly repeated: boolean;
    }
  /** The last segment does not name a segment of the text field before it. */
  | { readonly status: "no_segment"; readonly reason: string }
  /** The input does not contain the message. */
  | { readonly status: "no_message"; readonly message: string };

const INTEGERS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  "int64",
  "uint64",
  "int32",
  "fixed64",
  "fixed32",
  "uint32",
  "sfixed32",
  "sfixed64",
  "sint32",
  "sint64",
]);

/** Whether the kind is one of protobuf's integers. */
export function isInteger(kind: FieldKind): boolean {
  return INTEGERS.has(kind);
}

/** Why no field has a path, as the end of a sentence; undefined if one has it. */
export function describeMissingField(found: FieldLookup): string | undefined {
  switch (found.status) {
    case "found":
      return undefined;
    case "unknown": {
      const hint = found.suggestion === undefined ? "" : `; did you mean "${found.suggestion}"?`;
      return `"${found.segment}" is not a field of ${found.message}${hint}`;
    }
    case "not_a_message":
      return `"${found.segment}" is ${found.repeated ? "repeated" : `a ${found.kind}`} and has no fields to name`;
    case "no_segment":
      return found.reason;
    case "no_message":
      return `the input does not contain ${found.message}; build it with its imports`;
  }
}
