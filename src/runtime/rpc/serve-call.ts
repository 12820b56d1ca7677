import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { type BoundMethod, streamsRequest, streamsResponse } from "../binding/bound-method.ts";
import { Call, type CallStart } from "../call/call.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { compileJsonMessage } from "../json/json-message.ts";
import { compileJsonText } from "../json/json-text.ts";
import { responseTooLarge } from "../wire/envelope.ts";
import { binaryCodec, type MessageCodec, type MessageLimits } from "../wire/message-codec.ts";
import { responsesOfTurn } from "../wire/turn-budget.ts";
import { COUNTED_FROM_BYTES } from "../wire/unread-responses.ts";
import type { CodecName, RpcExchange } from "./rpc-exchange.ts";

/** Serves a call, including its status; does not throw or reject. */
export type Endpoint = (exchange: RpcExchange) => void | Promise<void>;

/** An RPC that is served, also one that is built in. */
export interface ServedRpc {
  readonly serve: Endpoint;
  /** Whether there are many messages, in either direction. */
  readonly isStreaming: boolean;
  /** Undefined for a built-in RPC. */
  readonly method: BoundMethod | undefined;
}

/** The data that all calls of a server share. */
export interface CallSettings {
  readonly chain: ServerChain;
  /** The registry for Any in JSON; created for the first JSON call. */
  readonly registry: () => Registry;
  /** Called for errors after the chain, which are not logged elsewhere. */
  readonly onDefect: (error: unknown, rpc: string) => void;
}

/** Serves the calls of an RPC. */
export function endpointOf(
  method: BoundMethod,
  settings: CallSettings,
  limits: MessageLimits,
): Endpoint {
  const { descriptor } = method;
  if (descriptor === undefined) throw new Error(`${method.rpc} is not an RPC`);
  const binary = binaryCodec(descriptor, limits);
  let json: MessageCodec | undefined;
  const codecOf = (name: CodecName): MessageCodec =>
    name === "proto" ? binary : (json ??= jsonCodec(descriptor, settings.registry(), limits));
  return (exchange) => serveCall(exchange, method, codecOf(exchange.codec), settings);
}

/**
 * Serves one call of an RPC: converts it to a `Call` for the chain, and the chain's result to
 * messages and a status. Does not reject.
 */
async function serveCall(
  exchange: RpcExchange,
  method: BoundMethod,
  codec: MessageCodec,
  settings: CallSettings,
): Promise<void> {
  const call = callOf(exchange, method, codec);
  try {
    const response = await settings.chain.run(call);
    if (streamsResponse(method.kind)) {
      await sendAll(exchange, call, response as AsyncIterable<Uint8Array>);
    } else {
      await exchange.reply(
        response as Uint8Array | string,
        call.beginResponse(),
        call.endResponse(),
      );
    }
  } catch (error) {
    const onDefect = (defect: unknown): void => settings.onDefect(defect, method.rpc);
    if (error instanceof ServiceError) return failWithMetadata(exchange, error, call, onDefect);
    // Such as a header of the handler that Node does not send; it would not send it here either.
    onDefect(error);
    failAlone(exchange, toServiceError(error), onDefect);
  }
}

/** Ends a call with an error and the handler's headers; without them if they cannot be sent. */
function failWithMetadata(
  exchange: RpcExchange,
  error: ServiceError,
  call: Call,
  onDefect: (defect: unknown) => void,
): void {
  try {
    exchange.fail(error, call.beginResponse(), call.endResponse(), call);
  } catch (defect) {
    onDefect(defect);
    failAlone(exchange, error, onDefect);
  }
}

function failAlone(
  exchange: RpcExchange,
  error: ServiceError,
  onDefect: (defect: unknown) => void,
): void {
  try {
    exchange.fail(error);
  } catch (defect) {
    onDefect(defect);
    exchange.cancel();
  }
}

function callOf(exchange: RpcExchange, method: BoundMethod, codec: MessageCodec): Call {
  const call: Call = new Call({
    method,
    transport: exchange.transport,
    requestId: exchange.requestId,
    headers: exchange.headers,
    peer: exchange.peer,
    target: `/${method.rpc}`,
    httpMethod: exchange.httpMethod,
    ...headOf(exchange, method, codec),
    encodeResponse: (response) => {
      if (exchange.repliesText === true && codec.encodeText !== undefined) {
        const text = codec.encodeText(response);
        const bytes = Buffer.byteLength(text);
        call.responseBytes += bytes;
        if (bytes >= COUNTED_FROM_BYTES) responsesOfTurn.spend(bytes, method);
        return text;
      }
      const data = codec.encode(response);
      call.responseBytes += data.length;
      if (data.length >= COUNTED_FROM_BYTES) responsesOfTurn.spend(data.length, method);
      return data;
    },
  });
  exchange.whenCancelled((reason) => call.abort(reason));
  return call;
}

/** The call from its headers; even if they are invalid, so that it is logged and counted. */
function headOf(
  exchange: RpcExchange,
  { kind }: BoundMethod,
  codec: MessageCodec,
): Pick<CallStart, "clientTimeoutMs" | "readRequest" | "refusal"> {
  try {
    const timeout = exchange.clientTimeout();
    const reader = exchange.reader(codec);
    return {
      ...(timeout === undefined ? {} : { clientTimeoutMs: timeout }),
      // The chain asks for it after authentication and rate limit.
      readRequest: () => (streamsRequest(kind) ? reader.messages() : reader.single()),
    };
  } catch (error) {
    const refusal = toServiceError(error);
    return { refusal, readRequest: () => Promise.reject(refusal) };
  }
}

async function sendAll(
  exchange: RpcExchange,
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

/** The JSON encoding of protobuf, as in the HTTP routes. */
export function jsonCodec(
  { input, output }: { readonly input: DescMessage; readonly output: DescMessage },
  registry: Registry,
  limits: MessageLimits,
): MessageCodec {
  const text = compileJsonText(output, registry);
  const encodeText = (message: unknown): string => {
    const json = text(message as Message);
    if (Buffer.byteLength(json) <= limits.maxResponseBytes) return json;
    throw responseTooLarge(limits.maxResponseBytes);
  };
  return {
    decode: compileJsonMessage(input, registry, limits),
    encode: (message) => Buffer.from(encodeText(message)),
    encodeText,
  };
}
