import { create, type DescMessage, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { streamsResponse } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";

/**
 * Calls the handler and makes its answer the message that the RPC declares: handlers
 * may return plain objects.
 */
export async function invokeHandler(call: Call): Promise<unknown> {
  const { handler, descriptor } = call.method;
  const answer = handler(call.request, call);
  if (descriptor === undefined) return answer;
  if (streamsResponse(call.method)) {
    return messages(descriptor.output, answer as AsyncIterable<unknown>, call.rpc);
  }
  return toMessage(descriptor.output, await answer, call.rpc);
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
