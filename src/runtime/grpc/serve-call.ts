import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type BoundMethod, streamsRequest, streamsResponse } from "../binding/bound-method.ts";
import { Call } from "../call/call.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import type { GrpcExchange } from "./grpc-exchange.ts";
import type { MessageReader } from "./message-reader.ts";

/**
 * Serves one call of an RPC: makes it a `Call` for the chain, and the chain's answer
 * messages and a status.
 *
 * @param onDefect is told of what went wrong behind the chain, which nobody else logs
 */
export async function serveCall(
  exchange: GrpcExchange,
  method: BoundMethod,
  chain: ServerChain,
  onDefect: (error: unknown, rpc: string) => void,
): Promise<void> {
  const { input, output } = descriptorOf(method);
  const timeout = exchange.clientTimeout();
  const reader = exchange.reader();
  const call = new Call({
    method,
    transport: "grpc",
    requestId: exchange.requestId,
    headers: exchange.headers,
    peer: exchange.peer,
    target: `/${method.rpc}`,
    httpMethod: "POST",
    ...(timeout === undefined ? {} : { clientTimeoutMs: timeout }),
    // The chain asks for it behind authentication and rate limit.
    readRequest: () =>
      streamsRequest(method) ? decodeAll(reader, input) : decodeSingle(reader, input),
  });
  exchange.onCancel(() => call.abort(new ServiceError("CANCELLED")));
  try {
    const response = await chain.run(call);
    if (streamsResponse(method)) {
      await sendAll(exchange, call, output, response as AsyncIterable<unknown>);
    } else {
      const replied = exchange.reply(encode(output, response), call.beginResponse());
      if (replied !== undefined) await replied;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) onDefect(error, method.rpc);
    exchange.fail(toServiceError(error), call.beginResponse());
  }
  call.responseBytes = exchange.sentBytes;
}

async function sendAll(
  exchange: GrpcExchange,
  call: Call,
  output: DescMessage,
  responses: AsyncIterable<unknown>,
): Promise<void> {
  for await (const response of responses) {
    exchange.begin(call.beginResponse());
    await exchange.send(encode(output, response), () => call.signal);
    call.responseBytes = exchange.sentBytes;
  }
  exchange.begin(call.beginResponse());
  exchange.succeed();
}

async function decodeSingle(reader: MessageReader, input: DescMessage): Promise<unknown> {
  return decode(input, await reader.single());
}

async function* decodeAll(reader: MessageReader, input: DescMessage): AsyncGenerator<unknown> {
  for await (const data of reader.messages()) yield decode(input, data);
}

function decode(input: DescMessage, data: Uint8Array): unknown {
  try {
    return fromBinary(input, data);
  } catch (error) {
    throw new ServiceError("INVALID_ARGUMENT", `the request is no valid ${input.typeName}`, {
      cause: error,
    });
  }
}

function encode(output: DescMessage, message: unknown): Uint8Array {
  return toBinary(output, message as Parameters<typeof toBinary>[1]);
}

function descriptorOf(method: BoundMethod): { input: DescMessage; output: DescMessage } {
  if (method.descriptor === undefined) throw new Error(`${method.rpc} is no RPC`);
  return method.descriptor;
}
