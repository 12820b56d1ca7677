import { request } from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError as GrpcError, Metadata } from "@grpc/grpc-js";
import { ERROR_CODES } from "../../../src/runtime/error/error-codes.ts";
import {
  AnswerSchema,
  GetDocumentRequestSchema,
  GetNoticeRequestSchema,
  GetProfileRequestSchema,
  ReconcileRequestSchema,
  ResetRequestSchema,
} from "../fixture/gen/acme/vault/v1/vault_pb.ts";

/** The headers of a call; a name may occur twice. */
export type Headers = readonly (readonly [string, string])[];

/** An RPC of each column, over both transports. */
export interface Target {
  readonly method: string;
  readonly path: string;
  readonly rpc: string;
  readonly message: Uint8Array;
}

const SERVICE = "/acme.vault.v1.VaultService";

export function targetOf(column: string): Target {
  const document = (documentId: string): Target => ({
    method: "GET",
    path: `/v1/documents/${documentId}`,
    rpc: `${SERVICE}/GetDocument`,
    message: toBinary(GetDocumentRequestSchema, create(GetDocumentRequestSchema, { documentId })),
  });
  switch (column) {
    case "PUBLIC":
      return {
        method: "GET",
        path: "/v1/notices/n",
        rpc: `${SERVICE}/GetNotice`,
        message: toBinary(
          GetNoticeRequestSchema,
          create(GetNoticeRequestSchema, { noticeId: "n" }),
        ),
      };
    case "AUTHENTICATED":
      return {
        method: "GET",
        path: "/v1/profile",
        rpc: `${SERVICE}/GetProfile`,
        message: toBinary(GetProfileRequestSchema, create(GetProfileRequestSchema)),
      };
    case "AUTHORIZED, allowed":
    case "AUTHORIZED, engine down":
      return document("open");
    case "AUTHORIZED, denied":
      return document("closed");
    case "INTERNAL":
      return {
        method: "POST",
        path: "/v1/documents:reconcile",
        rpc: `${SERVICE}/Reconcile`,
        message: toBinary(ReconcileRequestSchema, create(ReconcileRequestSchema)),
      };
    case "SYSTEM":
      return {
        method: "POST",
        path: "/v1/documents:reset",
        rpc: `${SERVICE}/Reset`,
        message: toBinary(ResetRequestSchema, create(ResetRequestSchema)),
      };
    default:
      throw new Error(`no RPC for the column ${column}`);
  }
}

/** What came of a call: whom the handler was told of (`-` for nobody), or the status of the refusal. */
export async function callHttp(port: number, target: Target, headers: Headers): Promise<string> {
  const body = target.method === "POST" ? "{}" : undefined;
  const sent: string[] = ["host", "vault", ...headers.flat()];
  if (body !== undefined) sent.push("content-type", "application/json", "content-length", "2");
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        port,
        host: "127.0.0.1",
        method: target.method,
        path: target.path,
        headers: sent,
        agent: false,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => {
          try {
            const json = JSON.parse(text) as { subjectId?: string; status?: number };
            if (response.statusCode === 200) return resolve(json.subjectId || "-");
            if (json.status !== response.statusCode) {
              return reject(new Error(`the body says ${json.status}: ${text}`));
            }
            return resolve(String(response.statusCode));
          } catch (error) {
            return reject(error);
          }
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** The same over gRPC, by a client that nobody here wrote. */
export async function callGrpc(port: number, target: Target, headers: Headers): Promise<string> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.add(name, value);
  try {
    return await new Promise<string>((resolve, reject) => {
      client.makeUnaryRequest(
        target.rpc,
        (message: Uint8Array) => Buffer.from(message),
        (bytes: Buffer) => fromBinary(AnswerSchema, bytes),
        target.message,
        metadata,
        { deadline: Date.now() + 20_000 },
        (error: GrpcError | null, answer) => {
          if (error === null) resolve(answer?.subjectId || "-");
          else resolve(httpStatusOf(error, reject));
        },
      );
    });
  } finally {
    client.close();
  }
}

/** The HTTP status of the code that stands for a gRPC status here. */
function httpStatusOf({ code, details }: GrpcError, reject: (error: Error) => void): string {
  const names = ["INVALID_ARGUMENT", "UNAUTHORIZED", "FORBIDDEN", "UNAVAILABLE"] as const;
  const name = names.find((one) => ERROR_CODES[one].grpc === code);
  if (name === undefined) reject(new Error(`gRPC status ${code}: ${details}`));
  return name === undefined ? "" : String(ERROR_CODES[name].http);
}
