import { type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { registryOf } from "../../json/json-text.ts";
import type { RpcExchange } from "../../rpc/rpc-exchange.ts";
import { jsonCodec } from "../../rpc/serve-call.ts";
import type { MessageCodec, MessageLimits } from "../../wire/message-codec.ts";
import type { MessageDecoder } from "../../wire/message-decoder.ts";
import type { BuiltInExchange } from "./built-in-method.ts";
import { builtInServices } from "./built-in-services.ts";

/** Converts a call with JSON messages to the binary encoding, by the path of its RPC. */
export type BuiltInJson = (path: string, exchange: RpcExchange) => BuiltInExchange;

/** The JSON codec of the built-in RPCs, from their descriptors, like all others. */
export function builtInJson(limits: MessageLimits): BuiltInJson {
  const services = builtInServices();
  const registry = registryOf(services.map(({ file }) => file));
  // Their responses have limits of their own in the binary encoding.
  const bounds = { ...limits, maxResponseBytes: Number.POSITIVE_INFINITY };
  const transcoders = new Map(
    services
      .flatMap(({ methods }) => methods)
      .map((method) => [
        `/${method.parent.typeName}/${method.name}`,
        transcoderOf(method, jsonCodec(method, registry, bounds)),
      ]),
  );
  return (path, exchange) => {
    const transcoder = transcoders.get(path);
    if (transcoder === undefined) throw new Error(`${path} is not a built-in RPC`);
    const { decoder, encode } = transcoder;
    return {
      reader: () => exchange.reader(decoder),
      send: async (data, signal) => exchange.send(encode(data), signal),
      reply: (data) => exchange.reply(encode(data)),
      succeed: () => exchange.succeed(),
    };
  };
}

/** From JSON to binary, and back. */
interface Transcoder {
  readonly decoder: MessageDecoder<Uint8Array>;
  readonly encode: (data: Uint8Array) => Uint8Array;
}

function transcoderOf({ input, output }: DescMethod, json: MessageCodec): Transcoder {
  return {
    decoder: {
      decode: (data, memory) => toBinary(input, json.decode(data, memory)),
    },
    encode: (data) => json.encode(fromBinary(output, data)),
  };
}
