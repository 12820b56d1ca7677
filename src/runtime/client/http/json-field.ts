import type { DescField, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A field in the JSON form of its message; a field may have the name of what every object has. */
export function valueOf(json: JsonObject, { jsonName }: DescField): JsonValue | undefined {
  return Object.hasOwn(json, jsonName) ? json[jsonName] : undefined;
}
