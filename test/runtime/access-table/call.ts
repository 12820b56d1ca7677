import {
  create,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError as GrpcError, Metadata } from "@grpc/grpc-js";
import { ERROR_CODES, type ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import {
  AnswerSchema,
  ConverseRequestSchema,
  DumpDocumentsRequestSchema,
  GetDocumentRequestSchema,
  GetNoticeRequestSchema,
  GetProfileRequestSchema,
  InspectDocumentsRequestSchema,
  ReconcileRequestSchema,
  ResetRequestSchema,
  UploadDocumentRequestSchema,
  WatchDocumentRequestSchema,
} from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { errorForm } from "../support/wire/error-forms.ts";
import type { Wire } from "../support/wire/protocols.ts";
import { readResponse } from "../support/wire/read-response.ts";
import { sendRequest } from "../support/wire/send-request.ts";
import { requestOf, type WireCall } from "../support/wire/wire-request.ts";

/** The headers of a call; a name may occur twice. */
export type Headers = readonly (readonly [string, string])[];

const SERVICE = "/acme.vault.v1.VaultService";

/** A call of the service, with its message in each encoding. */
export function vaultCall<Desc extends DescMessage>(
  name: string,
  route: WireCall["route"],
  schema: Desc,
  init: MessageInitShape<Desc>,
  isStreaming = false,
): WireCall {
  const message = create(schema, init);
  return {
    rpc: `${SERVICE}/${name}`,
    route,
    isStreaming,
    message: toBinary(schema, message),
    json: toJsonString(schema, message),
  };
}

const get = (path: string) => ({ method: "GET", path, body: "" });
const post = (path: string) => ({ method: "POST", path, body: "{}" });

/** An RPC of each column, as a protocol is to call it: by GET what could be read so, were it for everybody. */
export function targetOf(column: string, form: Wire["form"] = "route"): WireCall {
  if (form === "connect_get" && column === "INTERNAL") {
    const route = get("/v1/documents:inspect");
    return vaultCall("InspectDocuments", route, InspectDocumentsRequestSchema, {});
  }
  if (form === "connect_get" && column === "SYSTEM") {
    return vaultCall("DumpDocuments", get("/v1/documents:dump"), DumpDocumentsRequestSchema, {});
  }
  const document = (documentId: string): WireCall =>
    vaultCall("GetDocument", get(`/v1/documents/${documentId}`), GetDocumentRequestSchema, {
      documentId,
    });
  switch (column) {
    case "PUBLIC":
      return vaultCall("GetNotice", get("/v1/notices/n"), GetNoticeRequestSchema, {
        noticeId: "n",
      });
    case "AUTHENTICATED":
      return vaultCall("GetProfile", get("/v1/profile"), GetProfileRequestSchema, {});
    case "AUTHORIZED, allowed":
    case "AUTHORIZED, engine down":
      return document("open");
    case "AUTHORIZED, denied":
      return document("closed");
    case "INTERNAL":
      return vaultCall("Reconcile", post("/v1/documents:reconcile"), ReconcileRequestSchema, {});
    case "SYSTEM":
      return vaultCall("Reset", post("/v1/documents:reset"), ResetRequestSchema, {});
    case "AUTHENTICATED, stream both ways":
      return vaultCall("Converse", undefined, ConverseRequestSchema, { text: "x" }, true);
    case "AUTHORIZED, stream of answers": {
      const route = get("/v1/documents/open:watch?count=1");
      const request = { documentId: "open", count: 1 };
      return vaultCall("WatchDocument", route, WatchDocumentRequestSchema, request, true);
    }
    case "INTERNAL, stream of requests":
      return vaultCall("UploadDocument", undefined, UploadDocumentRequestSchema, {}, true);
    default:
      throw new Error(`no RPC for the column ${column}`);
  }
}

/**
 * The outcome of a call: the caller that the handler saw (`-` for none), or the HTTP status of the
 * refusal, which must have the form of the protocol.
 */
export async function callWire(
  port: number,
  wire: Wire,
  target: WireCall,
  headers: Headers,
): Promise<string> {
  const request = requestOf(wire, target);
  const fields = [...request.fields, ...headers];
  const response = await sendRequest(port, wire, { ...request, fields });
  if (response === undefined) throw new Error("there is no response");
  const { code, httpStatus, reason, answers } = readResponse(wire, target, response);
  if (code === undefined) return String(httpStatus);
  if (reason === undefined) return subjectOf(wire, answers[0]);
  const form = errorForm(wire, target.isStreaming, ERROR_CODES[reason as ErrorCode]);
  if (form.code !== code || form.httpStatus !== httpStatus) {
    throw new Error(`${reason} is reported as ${httpStatus} ${code}`);
  }
  return String(ERROR_CODES[reason as ErrorCode].http);
}

function subjectOf({ codec }: Wire, answer: Uint8Array | undefined): string {
  if (answer === undefined) throw new Error("there is no answer");
  const { subjectId } =
    codec === "json"
      ? fromJsonString(AnswerSchema, Buffer.from(answer).toString())
      : fromBinary(AnswerSchema, answer);
  return subjectId || "-";
}

/** The same over gRPC, by a third-party client. */
export async function callGrpc(port: number, target: WireCall, headers: Headers): Promise<string> {
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

/** The HTTP status of the code that corresponds to a gRPC status. */
function httpStatusOf({ code, details }: GrpcError, reject: (error: Error) => void): string {
  const names = ["INVALID_ARGUMENT", "UNAUTHORIZED", "FORBIDDEN", "UNAVAILABLE"] as const;
  const name = names.find((one) => ERROR_CODES[one].grpc === code);
  if (name === undefined) reject(new Error(`gRPC status ${code}: ${details}`));
  return name === undefined ? "" : String(ERROR_CODES[name].http);
}
