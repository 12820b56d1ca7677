import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { streamsResponse } from "../../binding/bound-method.ts";
import type { ClientCallOptions } from "./client-call.ts";

/**
 * One RPC as a method of a client. It rejects, or a stream throws, with a `ServiceError`.
 *
 * @typeParam Method - its descriptor of protoc-gen-es
 */
export type ClientMethod<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? (
        request: MessageInitShape<Input>,
        options?: ClientCallOptions,
      ) => Promise<MessageShape<Output>>
    : Method extends DescMethodServerStreaming<infer Input, infer Output>
      ? (
          request: MessageInitShape<Input>,
          options?: ClientCallOptions,
        ) => AsyncIterable<MessageShape<Output>>
      : Method extends DescMethodClientStreaming<infer Input, infer Output>
        ? (
            requests: AsyncIterable<MessageInitShape<Input>>,
            options?: ClientCallOptions,
          ) => Promise<MessageShape<Output>>
        : Method extends DescMethodBiDiStreaming<infer Input, infer Output>
          ? (
              requests: AsyncIterable<MessageInitShape<Input>>,
              options?: ClientCallOptions,
            ) => AsyncIterable<MessageShape<Output>>
          : never;

/**
 * A client of a service: a method for each RPC, and `close`, after which it must not
 * be used. Where an RPC itself has that name, `close` is the RPC, and `await using`
 * closes the client.
 *
 * @typeParam Service - the service descriptor of protoc-gen-es
 *
 * @example
 * ```ts
 * await using notes: ServiceClient<typeof NotesService> = createGrpcClient(NotesService, {
 *   target: "notes:19010",
 * });
 * const { items } = await notes.listItems({});
 * ```
 */
export type ServiceClient<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: ClientMethod<Service["method"][Name]>;
} & {
  readonly [Name in Exclude<"close", keyof Service["method"]>]: () => Promise<void>;
} & AsyncDisposable;

/** How a client calls one RPC. */
export interface ClientCaller {
  /** RPCs with one response. */
  call(method: DescMethod, request: unknown, options: ClientCallOptions): Promise<unknown>;
  /** RPCs with a stream of responses; the call begins when it is first read. */
  stream(method: DescMethod, request: unknown, options: ClientCallOptions): AsyncIterable<unknown>;
  close(): Promise<void>;
}

/** Makes the methods of a client. */
export function typedClient<Service extends DescService>(
  service: Service,
  caller: ClientCaller,
): ServiceClient<Service> {
  const close = () => caller.close();
  const client: Record<string | symbol, unknown> = { close, [Symbol.asyncDispose]: close };
  for (const method of service.methods) {
    const streams = streamsResponse(method.methodKind);
    client[method.localName] = (request: unknown, options: ClientCallOptions = {}) =>
      streams ? caller.stream(method, request, options) : caller.call(method, request, options);
  }
  return Object.freeze(client) as unknown as ServiceClient<Service>;
}
