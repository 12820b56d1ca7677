import type { DescMessage, Message } from "@bufbuild/protobuf";
import { compileJsonMessage } from "../../../src/runtime/json/json-message.ts";
import { registryOf } from "../../../src/runtime/json/json-text.ts";

/** Decodes JSON text as a message of some type, within a limit. */
export function decode(message: DescMessage, text: string, maxElements = 1_000_000): Message {
  return compileJsonMessage(message, registryOf([message.file]), { maxElements })(
    Buffer.from(text),
    { take: () => undefined },
  );
}

/** The error message for JSON text, or "ok" if it is valid. */
export function errorOf(message: DescMessage, text: string, maxElements?: number): string {
  try {
    decode(message, text, maxElements);
    return "ok";
  } catch (error) {
    return (error as Error).message;
  }
}

/** A number of pieces of JSON with commas between them. */
export function repeat(count: number, piece: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join(",");
}
