import { type DescMethod, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import {
  type Answer,
  type Json,
  type RpcCall,
  type RpcClient,
  wholeMessage,
} from "./rpc-client.ts";

/** `@grpc/grpc-js`, without code of ours between it and the descriptors. */
export class GrpcJsClient implements RpcClient {
  readonly name = "grpc-js";
  readonly #client: Client;

  constructor(target: string) {
    this.#client = new Client(target, credentials.createInsecure());
  }

  call({ method, request, headers, isLast }: RpcCall): Promise<Answer> {
    const path = `/${method.parent.typeName}/${method.name}`;
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const encode = (json: Json) =>
      Buffer.from(toBinary(method.input, fromJson(method.input, json)));
    const decode = (bytes: Buffer) => decoded(method, bytes);
    return new Promise((resolve) => {
      const messages: Json[] = [];
      const end = (error: ServiceError | null) =>
        resolve({ code: (status[error?.code ?? 0] as string).toLowerCase(), messages });
      if (method.methodKind === "unary") {
        this.#client.makeUnaryRequest(path, encode, decode, request, metadata, (error, message) => {
          if (message !== undefined) messages.push(message);
          end(error);
        });
        return;
      }
      const stream = this.#client.makeServerStreamRequest(path, encode, decode, request, metadata);
      stream.on("error", end);
      stream.on("end", () => end(null));
      stream.on("data", (message: Json) => {
        if (isLast?.(message) === false) return;
        messages.push(message);
        if (isLast === undefined) return;
        end(null);
        stream.cancel();
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}

function decoded(method: DescMethod, bytes: Buffer): Json {
  return wholeMessage(method, toJson(method.output, fromBinary(method.output, bytes)));
}
