import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { onceEach } from "../binding/reusable-message.ts";
import { ServiceError } from "../error/service-error.ts";
import { responseTooLarge } from "./envelope.ts";
import type { MessageDecoder } from "./message-decoder.ts";
import { RECURSION_LIMIT, tooDeep } from "./message-depth.ts";
import { measureMessage } from "./message-elements.ts";

/** The limits of messages. */
export interface MessageLimits {
  /** The most bytes of a request message, unpacked. */
  readonly maxBytes: number;
  /** The most elements of a request message: see `measureMessage`. */
  readonly maxElements: number;
  /** The most bytes of a response message. */
  readonly maxResponseBytes: number;
}

/** How the messages of an RPC are encoded. */
export interface MessageCodec extends MessageDecoder<Message> {
  /**
   * The bytes of a reusable message are the same each time: nobody may change them.
   *
   * @throws ServiceError PAYLOAD_TOO_LARGE for a message that is larger than the limit
   */
  encode(message: unknown): Uint8Array;
  /** The same as text, if the encoding is text. */
  encodeText?(message: unknown): string;
}

/**
 * Unknown fields are not kept: they could be passed on unnoticed, and take many times their bytes
 * in memory.
 */
const WITHOUT_UNKNOWN = { readUnknownFields: false, recursionLimit: RECURSION_LIMIT } as const;
/** protobuf-es has the values of extensions among the unknown fields. */
const WITH_EXTENSIONS = { readUnknownFields: true, recursionLimit: RECURSION_LIMIT } as const;

/** The binary encoding of protobuf. */
export function binaryCodec(
  { input, output }: { readonly input: DescMessage; readonly output: DescMessage },
  { maxElements, maxResponseBytes }: MessageLimits,
): MessageCodec {
  const options = mayHoldExtensions(input) ? WITH_EXTENSIONS : WITHOUT_UNKNOWN;
  const write = onceEach((message) => toBinary(output, message));
  return {
    decode(data, memory) {
      const { elements, bytes, tooDeep: path } = measureMessage(input, data);
      if (elements > maxElements) throw tooManyElements(maxElements);
      if (path !== undefined) throw tooDeep(path);
      memory.take(bytes);
      try {
        return fromBinary(input, data, options);
      } catch (error) {
        throw new ServiceError("INVALID_ARGUMENT", `the request is not a valid ${input.typeName}`, {
          cause: error,
        });
      }
    },
    encode(message) {
      const data = write(message as Message);
      if (data.length <= maxResponseBytes) return data;
      throw responseTooLarge(maxResponseBytes);
    },
  };
}

function tooManyElements(limit: number): ServiceError {
  return new ServiceError(
    "PAYLOAD_TOO_LARGE",
    `a message has more than ${limit} elements (server.max_message_elements)`,
  );
}

/** Whether a message, or one within it, can be extended. */
function mayHoldExtensions(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (message.proto.extensionRange.length > 0) return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    ({ message: inner }) => inner !== undefined && mayHoldExtensions(inner, seen),
  );
}
