import { HTTP_EXTENSION } from "../../policy.ts";
import type { DefinedField } from "./definition.ts";

/** The parts of a published third-party option that are read here. */
export interface GenuineOption {
  readonly package: string;
  /** The extension of the option; absent if the option is a field of the options message. */
  readonly extension?: DefinedField;
  /** The fields that are read, by message. */
  readonly messages: ReadonlyMap<string, readonly DefinedField[]>;
  /** The values that are read, by enum. */
  readonly enums: ReadonlyMap<string, readonly (readonly [name: string, number: number])[]>;
}

const PATTERN = "oneof pattern";

/** `google.api.http`. Older versions lack some fields, but no version defines them differently. */
export const HTTP_OPTION: GenuineOption = {
  package: "google.api",
  extension: field("google.api.http", HTTP_EXTENSION, "", "message google.api.HttpRule"),
  messages: new Map([
    [
      "google.api.HttpRule",
      [
        field("selector", 1),
        field("get", 2, PATTERN),
        field("put", 3, PATTERN),
        field("post", 4, PATTERN),
        field("delete", 5, PATTERN),
        field("patch", 6, PATTERN),
        field("body", 7),
        field("custom", 8, PATTERN, "message google.api.CustomHttpPattern"),
        field("additional_bindings", 11, "repeated", "message google.api.HttpRule"),
        field("response_body", 12),
      ],
    ],
    ["google.api.CustomHttpPattern", [field("kind", 1), field("path", 2)]],
  ]),
  enums: new Map(),
};

/** The fields of `google.protobuf.MethodOptions` itself that are read. */
export const METHOD_OPTIONS: GenuineOption = {
  package: "google.protobuf",
  messages: new Map([
    [
      "google.protobuf.MethodOptions",
      [
        field("deprecated", 33, "", "bool"),
        field("idempotency_level", 34, "", "enum google.protobuf.MethodOptions.IdempotencyLevel"),
      ],
    ],
  ]),
  enums: new Map([
    [
      "google.protobuf.MethodOptions.IdempotencyLevel",
      [
        ["IDEMPOTENCY_UNKNOWN", 0],
        ["NO_SIDE_EFFECTS", 1],
        ["IDEMPOTENT", 2],
      ],
    ],
  ]),
};

function field(name: string, number: number, label = "", type = "string"): DefinedField {
  return { name, number, label, type };
}
