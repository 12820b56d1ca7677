import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import type { ConnectionOptions } from "node:tls";
import { fromBinary } from "@bufbuild/protobuf";
import { AnswerSchema } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { frame, rawCall } from "../../grpc/support/raw-call.ts";
import { type RunningVault, startVault, type VaultOptions } from "../../support/vault-server.ts";
import type { Identity } from "./certificates.ts";

export const TRANSPORTS = ["http", "grpc"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The options of a test's connection, as in Node.js. */
export type Connecting = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "minVersion" | "maxVersion" | "ciphers" | "ALPNProtocols" | "session"
>;

/** The identity in the gateway's headers. */
export const ALICE = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };

/** The `tls` of a server. */
export function tlsOf(server: Identity, clientCa?: Identity): Record<string, string> {
  return {
    certificate_file: server.certificateFile,
    key_file: server.keyFile,
    ...(clientCa === undefined ? {} : { client_ca_file: clientCa.certificateFile }),
  };
}

/** Differences from the usual vault with TLS. */
export interface SecuredOptions extends VaultOptions {
  /** The `tls` of both servers, or of each; absent for plain text. */
  readonly tls: object | { readonly http?: object; readonly grpc?: object };
  readonly trustedPeers?: readonly string[];
  readonly shutdownTimeoutNs?: number;
}

/** A vault whose servers have TLS. */
export function startSecured(options: SecuredOptions): Promise<RunningVault> {
  const {
    tls,
    trustedPeers = ["192.0.2.1"],
    config = {},
    shutdownTimeoutNs = 1_000_000_000,
    ...rest
  } = options;
  const each = (transport: Transport) => {
    const own = "http" in tls || "grpc" in tls ? (tls as Record<string, object>)[transport] : tls;
    return { address: "127.0.0.1:0", ...(own === undefined ? {} : { tls: own }) };
  };
  const server = { http: each("http"), grpc: each("grpc"), shutdown_timeout_ns: shutdownTimeoutNs };
  return startVault({
    security: { authn: { gateway: { trusted_peers: trustedPeers } } },
    config: { server, ...config },
    ...rest,
  });
}

/**
 * Calls and returns the seen caller: `200 alice`, a status without identity, or `refused: …`
 * without a connection.
 */
export function whoCalls(
  transport: Transport,
  vault: RunningVault,
  options: Connecting,
  headers: Readonly<Record<string, string>> = ALICE,
): Promise<string> {
  const ask = transport === "http" ? overHttp : overGrpc;
  return ask(vault[transport], options, headers);
}

function overHttp(
  port: number,
  options: Connecting,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((resolve) => {
    const target = { host: "localhost", port, path: "/v1/profile", agent: false, headers };
    const asked = request({ ...target, ...options }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        const body = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { subjectId?: string };
        resolve(response.statusCode === 200 ? `200 ${body.subjectId}` : `${response.statusCode}`);
      });
    });
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(refused(error)));
    asked.end();
  });
}

async function overGrpc(
  port: number,
  options: Connecting,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const session = connectHttp2(`https://localhost:${port}`, options);
  let failure: NodeJS.ErrnoException | undefined;
  session.on("error", (error) => {
    failure ??= error;
  });
  const answer = await rawCall(
    session,
    "/acme.vault.v1.VaultService/GetProfile",
    headers,
    frame(new Uint8Array()),
  );
  session.destroy();
  const { grpcStatus, body, streamError } = answer;
  if (grpcStatus === 0) return `200 ${fromBinary(AnswerSchema, body.subarray(5)).subjectId}`;
  if (grpcStatus === 16) return "401";
  return grpcStatus === undefined ? refused(failure ?? { code: streamError }) : `${grpcStatus}`;
}

function refused(error: { readonly code?: string | undefined; readonly message?: string }): string {
  return `refused: ${error.code} ${error.message}`;
}
