import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { compileJsonMessage } from "../json/json-message.ts";
import { compileJsonText } from "../json/json-text.ts";
import { responseTooLarge } from "../wire/envelope.ts";
import type { MessageCodec, MessageLimits } from "../wire/message-codec.ts";

/** The JSON encoding of protobuf, as the routes of HTTP have it. */
export function jsonCodec(
  { input, output }: { readonly input: DescMessage; readonly output: DescMessage },
  registry: Registry,
  limits: MessageLimits,
): MessageCodec {
  const text = compileJsonText(output, registry);
  return {
    decode: compileJsonMessage(input, registry, limits),
    encode(message) {
      const data = Buffer.from(text(message as Message));
      if (data.length <= limits.maxResponseBytes) return data;
      throw responseTooLarge(limits.maxResponseBytes);
    },
  };
}
