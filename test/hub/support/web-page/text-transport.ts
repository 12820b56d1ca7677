import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { GrpcWebClientBase, MethodDescriptor, type RpcError } from "grpc-web";

/** gRPC-Web text, which connect-web does not support, by Google's client with the same interface. */
export function createTextTransport({ baseUrl }: { readonly baseUrl: string }): Transport {
  const client = new GrpcWebClientBase({ format: "text", withCredentials: true });
  const open = (
    method: DescMethod,
    request: Message,
    header: ConstructorParameters<typeof Headers>[0],
    timeoutMs: number | undefined,
  ) => {
    const deadline = timeoutMs === undefined ? {} : { deadline: String(Date.now() + timeoutMs) };
    const metadata = { ...Object.fromEntries(new Headers(header)), ...deadline };
    const url = `${baseUrl}/${method.parent.typeName}/${method.name}`;
    // The classes of the messages, which the client only passes on.
    const none = Object as never;
    const descriptor = new MethodDescriptor<Message, Message>(
      url,
      "server_streaming",
      none,
      none,
      (message: Message) => toBinary(method.input, message),
      (bytes: Uint8Array) => fromBinary(method.output, bytes),
    );
    return new TextResponse(client.serverStreaming(url, request, metadata, descriptor));
  };
  return {
    async unary(method, signal, timeoutMs, header, input) {
      const response = open(method, create(method.input, input), header, timeoutMs);
      const messages = response.messages(signal);
      const { value: message } = await messages.next();
      // The status follows.
      await messages.next();
      return { ...response.head(method), stream: false, message: message as never };
    },
    async stream(method, signal, timeoutMs, header, input) {
      const response = open(method, create(method.input, await only(input)), header, timeoutMs);
      const message = response.messages(signal) as AsyncIterable<never>;
      return { ...response.head(method), stream: true, message };
    },
  };
}

async function only<Input extends DescMessage>(
  input: AsyncIterable<MessageInitShape<Input>>,
): Promise<MessageInitShape<Input>> {
  for await (const message of input) return message;
  throw new Error("there is no request");
}

/** The response of a call, which keeps its messages until they are read. */
class TextResponse {
  readonly #stream: ReturnType<GrpcWebClientBase["serverStreaming"]>;
  readonly #header = new Headers();
  readonly #waiting: Message[] = [];
  #failure: ConnectError | undefined;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(stream: ReturnType<GrpcWebClientBase["serverStreaming"]>) {
    this.#stream = stream;
    stream.on("metadata", (metadata) => {
      for (const [name, value] of Object.entries(metadata)) this.#header.set(name, value);
    });
    stream.on("data", (message) => {
      this.#waiting.push(message as Message);
      this.#wake();
    });
    stream.on("error", (error) => this.#end(errorOf(error)));
    stream.on("end", () => this.#end());
  }

  head<Method extends DescMethod>(method: Method) {
    return { service: method.parent, method, header: this.#header, trailer: new Headers() };
  }

  async *messages(signal: AbortSignal | undefined): AsyncGenerator<Message> {
    signal?.addEventListener("abort", () => {
      this.#stream.cancel();
      this.#end(ConnectError.from(signal.reason));
    });
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) yield message;
      else if (this.#failure !== undefined) throw this.#failure;
      else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #end(error?: ConnectError): void {
    this.#failure ??= error;
    this.#isOver = true;
    this.#wake();
  }
}

function errorOf({ code, message, metadata }: RpcError): ConnectError {
  const trailer = new Headers(Object.entries(metadata ?? {}));
  trailer.set("grpc-status", String(code));
  return findTrailerError(trailer) ?? new ConnectError(message, code as number);
}
