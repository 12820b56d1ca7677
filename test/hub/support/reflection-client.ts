import { fileURLToPath } from "node:url";
import {
  create,
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials, loadPackageDefinition, Metadata, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { Answer, Caller, Headers, Json } from "./caller.ts";

/** The definition of server reflection, as gRPC publishes it. */
const REFLECTION = loadSync(fileURLToPath(new URL("reflection.proto", import.meta.url)));

/** Calls RPCs with plain grpc-js and server reflection, without generated code. */
export class ReflectionClient implements Caller {
  readonly #client: Client;
  readonly #reflection: Json;
  #registry: FileRegistry | undefined;

  /** @param registry the schema; absent, it is read by server reflection */
  constructor(address: string, registry?: FileRegistry) {
    this.#registry = registry;
    this.#client = new Client(address, credentials.createInsecure());
    const loaded: Json = loadPackageDefinition(REFLECTION);
    const { ServerReflection } = loaded.grpc.reflection.v1;
    this.#reflection = new ServerReflection(address, credentials.createInsecure());
  }

  /** The services that the server lists. */
  async services(): Promise<string[]> {
    const [response] = await this.#reflect([{ listServices: "" }]);
    return response.listServicesResponse.service.map(({ name }: { name: string }) => name);
  }

  /** The descriptors of all services, with their imports. */
  async registry(): Promise<FileRegistry> {
    if (this.#registry !== undefined) return this.#registry;
    const symbols = (await this.services()).map((name) => ({ fileContainingSymbol: name }));
    const files = new Map<string, ReturnType<typeof fileOf>>();
    for (let asked: object[] = symbols; asked.length > 0; ) {
      for (const { fileDescriptorResponse } of await this.#reflect(asked)) {
        for (const bytes of fileDescriptorResponse.fileDescriptorProto) {
          const file = fileOf(bytes);
          files.set(file.name, file);
        }
      }
      const imports = new Set([...files.values()].flatMap(({ dependency }) => dependency));
      asked = [...imports]
        .filter((name) => !files.has(name))
        .map((name) => ({ fileByFilename: name }));
    }
    const set = create(FileDescriptorSetSchema, { file: sorted([...files.values()]) });
    this.#registry = createFileRegistry(set);
    return this.#registry;
  }

  async call(rpc: string, request: Json, headers: Headers): Promise<Answer> {
    const registry = await this.registry();
    const [service = "", name = ""] = rpc.split("/");
    const method = registry.getService(service)?.methods.find((one) => one.name === name);
    if (method === undefined) throw new Error(`reflection does not list ${rpc}`);
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
    return this.#send(method, registry, Array.isArray(request) ? request : [request], metadata);
  }

  close(): void {
    this.#client.close();
    this.#reflection.close();
  }

  #send(
    method: DescMethod,
    registry: FileRegistry,
    requests: readonly Json[],
    metadata: Metadata,
  ): Promise<Answer> {
    const path = `/${method.parent.typeName}/${method.name}`;
    const serialize = (json: Json) =>
      Buffer.from(toBinary(method.input, fromJson(method.input, json, { registry })));
    const deserialize = (bytes: Buffer) =>
      toJson(method.output, fromBinary(method.output, bytes), {
        registry,
        alwaysEmitImplicit: true,
      });
    return new Promise((resolve) => {
      const messages: Json[] = [];
      const end = (error: { code: number; details: string } | null) => {
        const code = (status[error?.code ?? 0] as string).toLowerCase();
        resolve({ code, error: error?.details ?? "", messages });
      };
      const unary = (error: Parameters<typeof end>[0], message: Json) => {
        if (message !== undefined) messages.push(message);
        end(error);
      };
      const client = this.#client;
      if (method.methodKind === "unary") {
        client.makeUnaryRequest(path, serialize, deserialize, requests[0], metadata, unary);
      } else if (method.methodKind === "client_streaming") {
        const call = client.makeClientStreamRequest(path, serialize, deserialize, metadata, unary);
        for (const request of requests) call.write(request);
        call.end();
      } else {
        client
          .makeServerStreamRequest(path, serialize, deserialize, requests[0], metadata)
          .on("data", (message: Json) => messages.push(message))
          .on("error", end)
          .on("end", () => end(null));
      }
    });
  }

  /** Sends all requests in one stream, and reads the responses in order. */
  #reflect(requests: readonly object[]): Promise<Json[]> {
    return new Promise((resolve, reject) => {
      const answers: Json[] = [];
      const stream = this.#reflection.serverReflectionInfo();
      stream.on("data", (answer: Json) => answers.push(answer));
      stream.on("error", reject);
      stream.on("end", () => resolve(answers));
      for (const request of requests) stream.write(request);
      stream.end();
    });
  }
}

function fileOf(bytes: Uint8Array) {
  return fromBinary(FileDescriptorProtoSchema, bytes);
}

/** Sorts imported files before the files that import them. */
function sorted<File extends { name: string; dependency: string[] }>(
  files: readonly File[],
): File[] {
  const done = new Set<File>();
  const visit = (file: File | undefined): void => {
    if (file === undefined || done.has(file)) return;
    for (const name of file.dependency) visit(files.find((one) => one.name === name));
    done.add(file);
  };
  for (const file of files) visit(file);
  return [...done];
}
