import type { MessageMemory } from "./message-budget.ts";

/** Converts the bytes of a request message. */
export interface MessageDecoder<Message> {
  /**
   * @param memory counts the memory of the decoded message before it is decoded
   * @throws ServiceError INVALID_ARGUMENT if it is not such a message; PAYLOAD_TOO_LARGE if it has
   *   too many elements; what `memory` throws
   */
  decode(data: Uint8Array, memory: MessageMemory): Message;
}

/** Returns messages as bytes. */
export const BYTES: MessageDecoder<Uint8Array> = {
  decode(data, memory) {
    memory.take(data.length);
    return data;
  },
};

/** The messages of built-in RPCs, which are read as bytes, are names. */
const MAX_BUILT_IN_BYTES = 64 * 1024;

/** The most bytes of a message, by its decoder. */
export function maxBytesOf(decoder: MessageDecoder<unknown>, maxBytes: number): number {
  return decoder === BYTES ? Math.min(MAX_BUILT_IN_BYTES, maxBytes) : maxBytes;
}
