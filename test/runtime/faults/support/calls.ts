import { Agent, request } from "node:http";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError as GrpcError, Metadata } from "@grpc/grpc-js";
import { ERROR_CODES } from "../../../../src/runtime/error/error-codes.ts";
import {
  GetDocumentRequestSchema,
  GetNoticeRequestSchema,
  GetProfileRequestSchema,
  ReconcileRequestSchema,
  UpdateDocumentRequestSchema,
} from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import { INTERNAL_TOKEN } from "../../support/vault-server.ts";

/** The kinds of calls of a load, and the status of each without faults. */
export const HEALTHY = {
  public: 200,
  profile: 200,
  allowed: 200,
  denied: 403,
  write: 200,
  "refused write": 403,
  "internal write": 200,
} as const;
export type Kind = keyof typeof HEALTHY;
export const KINDS = Object.keys(HEALTHY) as Kind[];

/** The credentials of the caller. */
export type Credentials = Readonly<Record<string, string>>;
/** The headers of a gateway. */
export const ALICE: Credentials = { "x-svc-external-sub": "alice" };

/** An RPC over both transports. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly rpc: string;
  readonly message: Uint8Array;
  readonly headers: Credentials;
}

/** Makes a call and returns the HTTP status of its outcome; 0 without a response. */
export type Caller = (request: Request, requestId: string) => Promise<number>;

export const SERVICE = "/acme.vault.v1.VaultService";

/** The request of a kind; `text` is the content of a write. */
export function requestOf(kind: Kind, text: string, caller: Credentials = ALICE): Request {
  const get = (path: string, rpc: string, message: Uint8Array, headers = caller): Request => {
    return { method: "GET", path, body: undefined, rpc: `${SERVICE}/${rpc}`, message, headers };
  };
  const document = (documentId: string) =>
    get(
      `/v1/documents/${documentId}`,
      "GetDocument",
      bytes(GetDocumentRequestSchema, { documentId }),
    );
  const update = (documentId: string): Request => ({
    method: "PUT",
    path: `/v1/documents/${documentId}`,
    body: JSON.stringify({ text }),
    rpc: `${SERVICE}/UpdateDocument`,
    message: bytes(UpdateDocumentRequestSchema, { documentId, text }),
    headers: caller,
  });
  switch (kind) {
    case "public":
      return noticeOf("n");
    case "profile":
      return get("/v1/profile", "GetProfile", bytes(GetProfileRequestSchema, {}));
    case "allowed":
      return document("open");
    case "denied":
      return document("closed");
    case "write":
      return update("open");
    case "refused write":
      return update("closed");
    case "internal write":
      return {
        method: "POST",
        path: "/v1/documents:reconcile",
        body: JSON.stringify({ reason: text }),
        rpc: `${SERVICE}/Reconcile`,
        message: bytes(ReconcileRequestSchema, { reason: text }),
        headers: { "x-svc-internal-token": INTERNAL_TOKEN },
      };
  }
}

/** The public notice; its id is an instruction to the handler. */
export function noticeOf(noticeId: string): Request {
  return {
    method: "GET",
    path: `/v1/notices/${noticeId}`,
    body: undefined,
    rpc: `${SERVICE}/GetNotice`,
    message: bytes(GetNoticeRequestSchema, { noticeId }),
    headers: {},
  };
}

export function bytes<Schema extends DescMessage>(
  schema: Schema,
  init: MessageInitShape<Schema>,
): Uint8Array {
  return toBinary(schema, create(schema, init));
}

/** Calls over HTTP, on kept connections. */
export function httpCaller(port: number): { call: Caller; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const call: Caller = ({ method, path, body, headers }, requestId) =>
    new Promise((resolve) => {
      const content =
        body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const outgoing = request(
        {
          port,
          host: "127.0.0.1",
          method,
          path,
          agent,
          headers: { ...headers, ...content, "x-request-id": requestId },
        },
        (response) => {
          response.on("error", () => resolve(0));
          response.on("end", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
          response.resume();
        },
      );
      outgoing.on("error", () => resolve(0));
      outgoing.end(body);
    });
  return { call, close: () => agent.destroy() };
}

/** Calls over gRPC, by a third-party client. */
export function grpcCaller(port: number): { call: Caller; close(): void } {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.enable_retries": 0,
  });
  const call: Caller = ({ rpc, message, headers }, requestId) =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      metadata.set("x-request-id", requestId);
      client.makeUnaryRequest(
        rpc,
        (data: Uint8Array) => Buffer.from(data),
        (data: Buffer) => data,
        message,
        metadata,
        { deadline: Date.now() + 30_000 },
        (error) => resolve(error === null ? 200 : httpStatusOf(error)),
      );
    });
  return { call, close: () => client.close() };
}

const NAMES = [
  "INVALID_ARGUMENT",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "RATE_LIMITED",
  "CANCELLED",
  "INTERNAL",
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
] as const;

/** Statuses that the client itself created, without a response of the server. */
function httpStatusOf({ code, metadata }: GrpcError): number {
  if (metadata.get("x-request-id").length === 0) return 0;
  const name = NAMES.find((one) => ERROR_CODES[one].grpc === code);
  return name === undefined ? 1000 + code : ERROR_CODES[name].http;
}
