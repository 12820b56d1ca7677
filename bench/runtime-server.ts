/**
 * The servers that `runtime.ts` compares, each a process of its own: bare `node:http`, bare grpc-js,
 * and the whole runtime as `createServer` makes it, authenticated, authorized and logged.
 */
import { mkdtempSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import {
  type AccessPolicy,
  createServer,
  type HttpRoute,
  type ServiceBinding,
} from "../src/runtime/index.ts";
import {
  AnswerSchema,
  GetDocumentRequestSchema,
} from "../test/runtime/fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService } from "../test/runtime/fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../test/runtime/support/vault-handlers.ts";
import { shareDocument, vaultConfiguration } from "../test/runtime/support/vault-server.ts";

/** The RPC that is measured by GET and by gRPC, as a path. */
export const GET_RPC = "/acme.vault.v1.VaultService/GetDocument";
/** The one that is measured by POST and by Connect. */
export const SAVE_RPC = "/acme.vault.v1.VaultService/UpdateDocument";
/** Its path of HTTP. */
export const SAVE_PATH = "/v1/documents:save";

/** What both answer. */
const ANSWER = { subjectId: "alice", subjectType: "user", source: "gateway", echo: "open" };

/** Where a server listens. */
export interface Ports {
  readonly http?: number;
  readonly grpc?: number;
}

async function serveNodeHttp(): Promise<Ports> {
  const server = createHttpServer((request, response) => {
    const echo = (request.url as string).slice("/v1/documents/".length);
    const body = JSON.stringify({ ...ANSWER, echo });
    response.writeHead(200, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { http: (server.address() as AddressInfo).port };
}

async function serveGrpcJs(): Promise<Ports> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  const definition = {
    GetDocument: {
      path: GET_RPC,
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
    bindings: [benchBinding()],
  });
  const addresses = await server.start();
  if (server.engine !== undefined) await shareDocument(server.engine);
  return { http: addresses["http"]?.port ?? 0, grpc: addresses["grpc"]?.port ?? 0 };
}

/**
 * The service of the tests, but for one RPC: it has a POST whose body is the whole request, as Connect
 * has it, and no audit event, whose cost would hide what is compared.
 */
function benchBinding(): ServiceBinding {
  const binding = bindVaultService(vaultHandlers());
  const rpc = SAVE_RPC.slice(1);
  const { audit: _, ...policy } = binding.policies[rpc] as AccessPolicy;
  const routes = binding.routes.map((route): HttpRoute => {
    if (route.rpc !== rpc) return route;
    const segments = ["v1", "documents"];
    return {
      rpc,
      method: "POST",
      path: SAVE_PATH,
      segments,
      variables: [],
      verb: "save",
      body: "*",
    };
  });
  return { ...binding, policies: { ...binding.policies, [rpc]: policy }, routes };
}

if (import.meta.main) {
  const serve = { "node:http": serveNodeHttp, "grpc-js": serveGrpcJs, runtime: serveRuntime };
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.send?.(await serve[process.argv[2] as keyof typeof serve]());
}
