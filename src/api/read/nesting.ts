import { eachField, WireType } from "./wire.ts";

/** How deep messages may nest; protoc refuses deeper nesting itself. */
export const MAX_NESTING = 100;
/** The fewest bytes of a level: the tag and the length of the message in it. */
const LEVEL_BYTES = 2;
/** The number of `DescriptorProto.nested_type`. */
const NESTED_TYPE = 3;

/**
 * Whether messages nest so deep that nothing may walk down into them.
 *
 * @param messages - encoded `DescriptorProto`s
 */
export function nestsTooDeep(messages: readonly Uint8Array[], depth = 0): boolean {
  return messages.some((bytes) => {
    if (depth > MAX_NESTING) return true;
    // Most messages are too short to nest that deep, and are not looked at.
    if (bytes.length < (MAX_NESTING - depth) * LEVEL_BYTES) return false;
    const nested: Uint8Array[] = [];
    eachField(bytes, (number, wireType, reader) => {
      if (number !== NESTED_TYPE || wireType !== WireType.LengthDelimited) return false;
      nested.push(reader.bytes());
      return true;
    });
    return nested.length > 0 && nestsTooDeep(nested, depth + 1);
  });
}
