import { type DescMessage, fromJson, type Message, toJson } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import {
  type Answer,
  type Json,
  type RpcCall,
  type RpcClient,
  wholeMessage,
} from "./rpc-client.ts";

type Method = (request: Message, options: CallOptions) => Promise<Message> | AsyncIterable<Message>;

/** `@connectrpc/connect` with connect-node. */
export class ConnectClient implements RpcClient {
  readonly name: string;
  readonly #transport: ReturnType<typeof createConnectTransport>;
  readonly #session: Http2SessionManager | undefined;

  constructor(baseUrl: string, httpVersion: "1.1" | "2") {
    this.name = `connect over HTTP/${httpVersion}`;
    this.#session = httpVersion === "2" ? new Http2SessionManager(baseUrl) : undefined;
    this.#transport =
      this.#session === undefined
        ? createConnectTransport({ baseUrl, httpVersion: "1.1" })
        : createConnectTransport({ baseUrl, httpVersion: "2", sessionManager: this.#session });
  }

  async call({ method, request, headers, isLast }: RpcCall): Promise<Answer> {
    const client = createClient(method.parent, this.#transport);
    const call = (client as unknown as Record<string, Method>)[method.localName] as Method;
    const messages: Json[] = [];
    const json = (message: Message) =>
      wholeMessage(method, toJson(method.output as DescMessage, message));
    const input = fromJson(method.input, request);
    const leaving = new AbortController();
    try {
      const answer = call.call(client, input, { headers, signal: leaving.signal });
      if (method.methodKind === "unary") messages.push(json(await (answer as Promise<Message>)));
      else {
        for await (const message of answer as AsyncIterable<Message>) {
          if (isLast?.(json(message)) === false) continue;
          messages.push(json(message));
          if (isLast !== undefined) break;
        }
      }
      leaving.abort();
      return { code: "ok", messages };
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      const code = Code[error.code] ?? "";
      return { code: code.replace(/(?<=.)([A-Z])/g, "_$1").toLowerCase(), messages };
    }
  }

  close(): void {
    this.#session?.abort();
  }
}
