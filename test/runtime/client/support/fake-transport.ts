import { setTimeout as sleep } from "node:timers/promises";
import type {
  ClientCall,
  ClientOptions,
  ClientTransport,
} from "../../../../src/runtime/client/call/client-call.ts";
import {
  type ServiceClient,
  typedClient,
} from "../../../../src/runtime/client/call/typed-client.ts";
import { ClientChain } from "../../../../src/runtime/client/chain/client-chain.ts";
import { EchoService } from "../../grpc/fixture/gen/fixture/v1/fixture_pb.ts";

/** A client without a network: `send` answers each call, given the call and the number of earlier ones. */
export function fakeClient(
  send: (call: ClientCall, attempt: number) => unknown,
  options: ClientOptions = {},
): { client: ServiceClient<typeof EchoService>; calls: ClientCall[]; closed: () => number } {
  let closed = 0;
  const calls: ClientCall[] = [];
  const transport: ClientTransport = {
    name: "grpc",
    isIdempotent: ({ idempotency }) => idempotency !== 0,
    async send(call) {
      calls.push({ ...call, headers: new Map(call.headers) });
      return send(call, calls.length - 1);
    },
    async close() {
      await sleep(1);
      closed++;
    },
  };
  const client = typedClient(EchoService, new ClientChain(transport, options));
  return { client, calls, closed: () => closed };
}
