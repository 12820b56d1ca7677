import type { BoundMethod } from "../binding/bound-method.ts";
import { streamsRequest, streamsResponse } from "../binding/method-kind.ts";
import { Call } from "../call/call.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { binaryCodec, type MessageCodec, type MessageLimits } from "../wire/message-codec.ts";
import type { GrpcExchange } from "./grpc-exchange.ts";

/** What is the same for all calls of a server. */
export interface CallSettings {
  readonly chain: ServerChain;
  /** Is told of what went wrong behind the chain, which nobody else logs. */
  readonly onDefect: (error: unknown, rpc: string) => void;
}

/** What serves the calls of an RPC; what it gives does not reject. */
export function endpointOf(
  method: BoundMethod,
  settings: CallSettings,
  limits: MessageLimits,
): (exchange: GrpcExchange) => Promise<void> {
  if (method.descriptor === undefined) throw new Error(`${method.rpc} is not an RPC`);
  const codec = binaryCodec(method.descriptor, limits);
  return (exchange) => serveCall(exchange, method, codec, settings);
}

/**
 * Serves one call of an RPC: makes it a `Call` for the chain, and the chain's answer
 * messages and a status. Does not reject.
 */
async function serveCall(
  exchange: GrpcExchange,
  method: BoundMethod,
  codec: MessageCodec,
  settings: CallSettings,
): Promise<void> {
  let call: Call | undefined;
  try {
    call = callOf(exchange, method, codec);
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
function callOf(exchange: GrpcExchange, method: BoundMethod, codec: MessageCodec): Call {
  const timeout = exchange.clientTimeout();
  const reader = exchange.reader(codec);
  const call: Call = new Call({
    method,
    transport: "grpc",
    requestId: exchange.requestId,
    headers: exchange.headers,
    peer: exchange.peer,
    target: `/${method.rpc}`,
    httpMethod: "POST",
    ...(timeout === undefined ? {} : { clientTimeoutMs: timeout }),
    // The chain asks for it after authentication and rate limit.
    readRequest: () => (streamsRequest(method.kind) ? reader.messages() : reader.single()),
    encodeResponse: (response) => {
      const data = codec.encode(response);
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
