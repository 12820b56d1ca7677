import { create, type DescMessage, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { streamsResponse } from "../binding/method-kind.ts";
import type { Call } from "../call/call.ts";

/**
 * Calls the handler and makes its answer the message that the RPC declares: handlers
 * may return plain objects. Throws what the handler throws, also at once.
 */
export function invokeHandler(call: Call): Promise<unknown> | AsyncIterable<unknown> {
  const { handler, descriptor } = call.method;
  const answer = handler(call.request, call);
  if (descriptor !== undefined && streamsResponse(call.method.kind)) {
    return messages(descriptor.output, answer as AsyncIterable<unknown>, call.rpc);
  }
  if (descriptor === undefined) return Promise.resolve(answer);
  return Promise.resolve(answer).then((one) => toMessage(descriptor.output, one, call.rpc));
}

async function* messages(
  schema: DescMessage,
  answers: AsyncIterable<unknown>,
  rpc: string,
): AsyncGenerator<unknown> {
  for await (const answer of answers) yield toMessage(schema, answer, rpc);
}

function toMessage(schema: DescMessage, answer: unknown, rpc: string): unknown {
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(`the handler of ${rpc} returned no ${schema.typeName}`);
  }
  return isMessage(answer, schema)
    ? answer
    : create(schema, answer as MessageInitShape<DescMessage>);
}
