import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BoundMethod } from "../binding/bound-method.ts";
import { streamsRequest, streamsResponse } from "../binding/method-kind.ts";
import { Call } from "../call/call.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import type { GrpcExchange } from "./grpc-exchange.ts";
import type { RequestReader } from "./request-reader.ts";

/** What is the same for all calls of a server. */
export interface CallSettings {
  readonly chain: ServerChain;
  readonly maxMessageBytes: number;
  /** Is told of what went wrong behind the chain, which nobody else logs. */
  readonly onDefect: (error: unknown, rpc: string) => void;
}

/**
 * Serves one call of an RPC: makes it a `Call` for the chain, and the chain's answer
 * messages and a status. Does not reject.
 */
export async function serveCall(
  exchange: GrpcExchange,
  method: BoundMethod,
  settings: CallSettings,
): Promise<void> {
  let call: Call | undefined;
  try {
    call = callOf(exchange, method, settings);
    const response = await settings.chain.run(call);
    if (streamsResponse(method.kind)) {
      await sendAll(exchange, call, response as AsyncIterable<Uint8Array>);
    } else {
      exchange.reply(response as Uint8Array, call.beginResponse(), call.endResponse());
    }
  } catch (error) {
    if (error instanceof ServiceError) {
      return exchange.fail(error, call?.beginResponse(), call?.endResponse());
    }
    // Such as a header of the handler that Node does not send; it would not send it here either.
    settings.onDefect(error, method.rpc);
    exchange.fail(toServiceError(error));
  }
}

/** @throws ServiceError for headers that cannot be understood */
function callOf(
  exchange: GrpcExchange,
  method: BoundMethod,
  { maxMessageBytes }: CallSettings,
): Call {
  const { input, output } = descriptorOf(method);
  const timeout = exchange.clientTimeout();
  const reader = exchange.reader();
  const call: Call = new Call({
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
      streamsRequest(method.kind)
        ? decodeAll(reader, input)
        : reader.single((data) => decode(input, data)),
    encodeResponse: (response) => {
      const data = encode(output, response, maxMessageBytes);
      call.responseBytes += data.length;
      return data;
    },
  });
  exchange.whenCancelled((reason) => call.abort(reason));
  return call;
}

async function sendAll(
  exchange: GrpcExchange,
  call: Call,
  responses: AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const response of responses) {
    exchange.begin(call.beginResponse());
    await exchange.send(response, () => call.signal);
  }
  exchange.begin(call.beginResponse());
  exchange.succeed(call.endResponse());
}

async function* decodeAll(reader: RequestReader, input: DescMessage): AsyncGenerator<unknown> {
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

function encode(output: DescMessage, message: unknown, maxBytes: number): Uint8Array {
  const data = toBinary(output, message as Parameters<typeof toBinary>[1]);
  if (data.length <= maxBytes) return data;
  throw new ServiceError(
    "PAYLOAD_TOO_LARGE",
    `the response message is larger than ${maxBytes} bytes`,
  );
}

function descriptorOf(method: BoundMethod): { input: DescMessage; output: DescMessage } {
  if (method.descriptor === undefined) throw new Error(`${method.rpc} is no RPC`);
  return method.descriptor;
}
