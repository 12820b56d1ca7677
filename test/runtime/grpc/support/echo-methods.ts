import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import type { AnyHandler, BoundMethod } from "../../../../src/runtime/binding/bound-method.ts";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import {
  type EchoRequest,
  EchoResponseSchema,
  EchoService,
  type WriteRequest,
} from "../fixture/gen/fixture/v1/fixture_pb.ts";

/** Handlers of the fixture, by their local name. */
export type EchoHandlers = Record<string, AnyHandler>;

const echo = ({ text, count, data }: EchoRequest) =>
  create(EchoResponseSchema, { text, count, data });

/** What the fixture does where a test does not say otherwise. */
export const echoHandlers: EchoHandlers = {
  echo: async (request: EchoRequest) => echo(request),
  write: async (request: WriteRequest) => ({ item: request.item, note: request.path }),
  replace: async (request: WriteRequest) => ({ item: request.item, note: request.path }),
  expand: async function* (request: EchoRequest) {
    for (let index = 0; index < request.count; index++) {
      yield create(EchoResponseSchema, { text: request.text, count: index, data: request.data });
    }
  },
  collect: async (requests: AsyncIterable<EchoRequest>) => {
    let text = "";
    let count = 0;
    for await (const request of requests) {
      text += request.text;
      count++;
    }
    return { text, count };
  },
  chat: async function* (requests: AsyncIterable<EchoRequest>, _context: CallContext) {
    for await (const request of requests) yield echo(request);
  },
};

/** Binds handlers without policies that matter. */
export function boundMethods(
  service: DescService = EchoService,
  handlers: EchoHandlers = {},
): readonly BoundMethod[] {
  return service.methods.map((descriptor: DescMethod, index) => ({
    index,
    rpc: `${service.typeName}/${descriptor.name}`,
    kind: descriptor.methodKind,
    descriptor,
    policy: { exposure: "PUBLIC", publish: false },
    isWrite: true,
    routes: [],
    handler: (handlers[descriptor.localName] ?? echoHandlers[descriptor.localName]) as AnyHandler,
  }));
}
