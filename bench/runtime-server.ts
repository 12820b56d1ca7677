/**
 * The servers that `runtime.ts` compares, each a process of its own: bare Fastify, bare grpc-js,
 * and the whole runtime as `createServer` makes it, authenticated, authorized and logged.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import Fastify from "fastify";
import { createServer } from "../src/runtime/index.ts";
import {
  AnswerSchema,
  GetDocumentRequestSchema,
} from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../test/runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../test/runtime/support/vault-handlers.ts";
import { shareDocument, vaultConfiguration } from "../test/runtime/support/vault-server.ts";

/** The full name of the RPC that is measured, as a path of gRPC. */
export const RPC = "/acme.vault.v1.VaultService/GetDocument";

/** What both answer. */
const ANSWER = { subjectId: "alice", subjectType: "user", source: "gateway", echo: "open" };

/** Where a server listens. */
export interface Ports {
  readonly http?: number;
  readonly grpc?: number;
}

async function serveFastify(): Promise<Ports> {
  const app = Fastify();
  app.get("/v1/documents/:documentId", async (request) => {
    return { ...ANSWER, echo: (request.params as { documentId: string }).documentId };
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  return { http: (app.server.address() as { port: number }).port };
}

async function serveGrpcJs(): Promise<Ports> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  const definition = {
    GetDocument: {
      path: RPC,
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes: Buffer) => fromBinary(GetDocumentRequestSchema, bytes),
      requestSerialize: (value: never) => Buffer.from(toBinary(GetDocumentRequestSchema, value)),
      responseDeserialize: (bytes: Buffer) => fromBinary(AnswerSchema, bytes),
      responseSerialize: (value: never) => Buffer.from(toBinary(AnswerSchema, value)),
    },
  } as unknown as ServiceDefinition;
  server.addService(definition, {
    GetDocument: (
      { request }: { request: { documentId: string } },
      callback: (error: null, value: unknown) => void,
    ) => callback(null, create(AnswerSchema, { ...ANSWER, echo: request.documentId })),
  });
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, grpc) =>
      error ? reject(error) : resolve({ grpc }),
    ),
  );
}

async function serveRuntime(): Promise<Ports> {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-bench-runtime-"));
  const security = { authn: { gateway: { trusted_peers: ["127.0.0.1/32"] } } };
  const server = await createServer({
    configuration: vaultConfiguration(folder, security, {}),
    bindings: [bindVaultService(vaultHandlers())],
  });
  const addresses = await server.start();
  if (server.engine !== undefined) await shareDocument(server.engine);
  return { http: addresses["http"]?.port ?? 0, grpc: addresses["grpc"]?.port ?? 0 };
}

if (import.meta.main) {
  const serve = { fastify: serveFastify, "grpc-js": serveGrpcJs, runtime: serveRuntime };
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.send?.(await serve[process.argv[2] as keyof typeof serve]());
}
