import {
  create,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodClientStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { streamsRequest } from "../runtime/binding/bound-method.ts";
import { type ClientCaller, typedClient } from "../runtime/client/call/typed-client.ts";
import { type ClientCallOptions, type ServiceClient, ServiceError } from "../runtime/index.ts";

/** One RPC of a fake: it gets a whole message, and may return a plain object. */
export type FakeMethod<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? (
        request: MessageShape<Input>,
        options: ClientCallOptions,
      ) => MessageInitShape<Output> | Promise<MessageInitShape<Output>>
    : Method extends DescMethodServerStreaming<infer Input, infer Output>
      ? (
          request: MessageShape<Input>,
          options: ClientCallOptions,
        ) => AsyncIterable<MessageInitShape<Output>>
      : Method extends DescMethodClientStreaming<infer Input, infer Output>
        ? (
            requests: AsyncIterable<MessageShape<Input>>,
            options: ClientCallOptions,
          ) => Promise<MessageInitShape<Output>>
        : Method extends DescMethodBiDiStreaming<infer Input, infer Output>
          ? (
              requests: AsyncIterable<MessageShape<Input>>,
              options: ClientCallOptions,
            ) => AsyncIterable<MessageInitShape<Output>>
          : never;

/** The RPCs that a fake has; the others are UNIMPLEMENTED. */
export type FakeMethods<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: FakeMethod<Service["method"][Name]>;
};

/**
 * Makes a client of a service that calls no server, for tests of handlers that call another service.
 *
 * @param service - the service descriptor of protoc-gen-es
 * @param methods - the RPCs that the test needs, by name
 *
 * @example
 * ```ts
 * const notes = fakeClient(NotesService, {
 *   async getVersion() {
 *     return { version: "1.0.0" };
 *   },
 * });
 * ```
 */
export function fakeClient<Service extends DescService>(
  service: Service,
  methods: FakeMethods<Service> = {},
): ServiceClient<Service> {
  // The type has checked each method; its descriptor says which of the four kinds it is.
  const own = new Map(Object.entries(methods)) as ReadonlyMap<string, Fake | undefined>;
  const caller: ClientCaller = {
    async call(method, request, options) {
      const response = await fakeOf(own, method)(requestOf(method, request), options);
      return create(method.output, response as Init);
    },
    async *stream(method, request, options) {
      const responses = fakeOf(own, method)(requestOf(method, request), options);
      yield* messagesOf(method.output, responses as AsyncIterable<Init>);
    },
    async close() {},
  };
  return typedClient(service, caller);
}

/** A message, or a plain object for one; each method's own type is checked where it is passed. */
type Init = MessageInitShape<DescMethod["input"]>;
type Fake = (request: unknown, options: ClientCallOptions) => unknown;

function fakeOf(own: ReadonlyMap<string, Fake | undefined>, method: DescMethod): Fake {
  const fake = own.get(method.localName);
  if (fake !== undefined) return fake;
  const { parent, name, localName } = method;
  throw new ServiceError(
    "UNIMPLEMENTED",
    `the fake of ${parent.typeName} has no ${name}: fakeClient(${parent.name}, {${localName}: …})`,
  );
}

function requestOf(method: DescMethod, request: unknown): unknown {
  return streamsRequest(method.methodKind)
    ? messagesOf(method.input, request as AsyncIterable<Init>)
    : create(method.input, request as Init);
}

async function* messagesOf(
  schema: DescMethod["input"],
  messages: AsyncIterable<Init>,
): AsyncIterable<unknown> {
  for await (const message of messages) yield create(schema, message);
}
