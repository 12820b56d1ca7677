import { createRegistry, type DescService, type Message } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  createGrpcClient,
  createHttpClient,
  type HttpRoute,
} from "../../../../src/runtime/index.ts";

/** The RPCs of a service as functions. */
export type Caller = Record<string, (request: Message) => Promise<Message>>;

/** By the name of the protocol. */
export type Callers = Readonly<Record<string, Caller>>;

const ONCE = { retry: false, circuitBreaker: false } as const;

/** Typed clients by every protocol; those of Connect and gRPC-Web nobody here wrote. */
export function everyCaller(
  service: DescService,
  routes: readonly HttpRoute[],
  ports: { readonly http: number; readonly grpc: number },
): { callers: Callers; close(): Promise<void> } {
  const baseUrl = `http://127.0.0.1:${ports.http}`;
  const jsonOptions = { registry: createRegistry(service.file, ...service.file.dependencies) };
  const sessionManager = new Http2SessionManager(baseUrl);
  const over2 = { baseUrl, httpVersion: "2", sessionManager } as const;
  const over1 = { baseUrl, httpVersion: "1.1" } as const;
  const transports: Record<string, Transport> = {
    "Connect JSON": createConnectTransport({ ...over1, jsonOptions, useBinaryFormat: false }),
    "Connect JSON over h2c": createConnectTransport({
      ...over2,
      jsonOptions,
      useBinaryFormat: false,
    }),
    "Connect proto": createConnectTransport({ ...over1, useBinaryFormat: true }),
    "Connect proto over h2c": createConnectTransport({ ...over2, useBinaryFormat: true }),
    "gRPC-Web": createGrpcWebTransport(over1),
    "gRPC-Web JSON over h2c": createGrpcWebTransport({
      ...over2,
      jsonOptions,
      useBinaryFormat: false,
    }),
    "gRPC on the HTTP port": createGrpcTransport({ baseUrl, sessionManager }),
  };
  const http = createHttpClient(service, routes, { baseUrl, ...ONCE });
  const grpc = createGrpcClient(service, { target: `127.0.0.1:${ports.grpc}`, ...ONCE });
  const callers: Record<string, Caller> = {
    http: http as unknown as Caller,
    grpc: grpc as unknown as Caller,
  };
  for (const [name, transport] of Object.entries(transports)) {
    callers[name] = createClient(service, transport) as unknown as Caller;
  }
  return {
    callers,
    async close() {
      sessionManager.abort();
      await Promise.all([http, grpc].map((client) => client[Symbol.asyncDispose]()));
    },
  };
}
