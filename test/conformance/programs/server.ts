/**
 * The server of the conformance suite: reads from standard input what to serve, says on standard
 * output where it does, and serves until it is ended.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, createServer, loadServiceConfig } from "svc-access/runtime";
import { Protocol } from "../gen/connectrpc/conformance/v1/config_pb.ts";
import {
  type ServerCompatRequest,
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "../gen/connectrpc/conformance/v1/server_compat_pb.ts";
import { bindConformanceService } from "../gen/connectrpc/conformance/v1/service_server.ts";
import { readMessages, writeMessage } from "./compat-stream.ts";
import { handlers } from "./handlers.ts";
import { keepHeaders } from "./request-info.ts";

/** Longer than any case takes: the suite says itself how long it waits. */
const TIMEOUT_NS = 60_000_000_000;

const folder = mkdtempSync(join(tmpdir(), "svc-access-conformance-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

for await (const request of readMessages(process.stdin, ServerCompatRequestSchema)) {
  await serve(request);
  break;
}

async function serve(request: ServerCompatRequest): Promise<void> {
  const file = join(folder, "conformance.yaml");
  writeFileSync(file, JSON.stringify(configurationOf(request)));
  const server = await createServer({
    configuration: loadServiceConfig(file),
    bindings: [bindConformanceService(handlers)],
    after: [keepHeaders],
    logger: createLogger({ level: "warn", destination: process.stderr }),
  });
  const addresses = await server.start();
  process.once("SIGTERM", () => void server.stop().then(() => process.exit()));
  const { port } = addresses[transportOf(request)] ?? { port: 0 };
  writeMessage(process.stdout, ServerCompatResponseSchema, {
    host: "127.0.0.1",
    port,
    pemCert: request.serverCreds?.cert ?? new Uint8Array(),
  });
}

function transportOf({ protocol }: ServerCompatRequest): "grpc" | "http" {
  return protocol === Protocol.GRPC ? "grpc" : "http";
}

function configurationOf(request: ServerCompatRequest): object {
  const isGrpc = transportOf(request) === "grpc";
  const limit = request.messageReceiveLimit;
  const limits = isGrpc ? { max_message_bytes: limit } : { max_body_bytes: limit };
  const listener = {
    address: "127.0.0.1:0",
    timeout_ns: TIMEOUT_NS,
    ...(limit === 0 ? {} : limits),
    ...(request.useTls ? { tls: tlsOf(request) } : {}),
  };
  return {
    environment: "test",
    service: "conformance",
    server: {
      [isGrpc ? "grpc" : "http"]: listener,
      stream_timeout_ns: TIMEOUT_NS,
      // The suite limits what a server receives; what it sends echoes that, and is more.
      ...(limit === 0 ? {} : { max_response_bytes: 4 * limit }),
      // The suite counts the details of an error, and expects none of its own.
      error_info: false,
    },
    security: { authn: { mode: "disabled" } },
  };
}

function tlsOf({ serverCreds, clientTlsCert }: ServerCompatRequest): object {
  if (serverCreds === undefined) throw new Error("the suite gives no certificate");
  return {
    certificate_file: kept("certificate.pem", serverCreds.cert),
    key_file: kept("key.pem", serverCreds.key),
    ...(clientTlsCert.length === 0 ? {} : { client_ca_file: kept("clients.pem", clientTlsCert) }),
  };
}

function kept(name: string, content: Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}
