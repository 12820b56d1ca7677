import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { AnswerSchema } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import type { Wire } from "../support/wire/protocols.ts";
import { readResponse, type WireAnswer } from "../support/wire/read-response.ts";
import type { WireResponse } from "../support/wire/send-request.ts";
import type { RpcInput } from "./rpc-inputs.ts";
import type { Pending } from "./subject.ts";

/** The declared errors; none of them is a failure of the server itself. */
const CONNECT_CODES: ReadonlySet<string> = new Set([
  "canceled",
  "invalid_argument",
  "deadline_exceeded",
  "not_found",
  "permission_denied",
  "resource_exhausted",
  "unimplemented",
  "unauthenticated",
]);
const GRPC_CODES: ReadonlySet<string> = new Set(["1", "3", "4", "5", "7", "8", "12", "16"]);
/** Statuses that are reported in text or in the form of a route: without an RPC protocol, or before it is known. */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 417, 429, 431];
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

type Form = Pick<Wire, "form" | "codec"> & { readonly isStreaming: boolean };

/** How to read a response, by its content type. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ["application/proto", { form: "connect", codec: "proto", isStreaming: false }],
  ["application/json", { form: "connect", codec: "json", isStreaming: false }],
  ["application/connect+proto", { form: "connect", codec: "proto", isStreaming: true }],
  ["application/connect+json", { form: "connect", codec: "json", isStreaming: true }],
  ["application/grpc+proto", { form: "grpc", codec: "proto", isStreaming: true }],
  ["application/grpc-web+proto", { form: "grpc_web", codec: "proto", isStreaming: true }],
  ["application/grpc-web+json", { form: "grpc_web", codec: "json", isStreaming: true }],
  ["application/grpc-web-text+proto", { form: "grpc_web_text", codec: "proto", isStreaming: true }],
]);

/** The error in a response; undefined if there is none. */
export function problemOfAnswer(
  response: WireResponse,
  { request, requestId }: RpcInput,
  pending: Pending,
): string | undefined {
  const { status, headers } = response;
  const value = (name: string) => headers.find(([one]) => one === name)?.[1];
  const id = value("x-request-id");
  if (id === undefined || !REQUEST_ID.test(id)) return "no request id";
  const type = value("content-type") ?? "";
  // The content type of gRPC means gRPC over HTTP/2, which no browser reads.
  const isGrpc = type.startsWith("application/grpc+");
  if (!isGrpc && value("x-content-type-options") !== "nosniff") return "no nosniff";
  if (request.method === "HEAD" || status === 204) return undefined;
  if (type.startsWith("text/plain")) {
    return REFUSALS.includes(status) ? undefined : "text that nothing here declares";
  }
  if (type === "application/json" && response.body.includes('"request_id"')) {
    if (status === 504 && lacksBody(request)) return undefined;
    return REFUSALS.includes(status) ? undefined : "an error that nothing here declares";
  }
  const form = FORMS.get(type);
  if (form === undefined) return `an answer of the type ${type}`;
  // Routes and probes answer with JSON as well.
  if (!request.path.includes("VaultService")) return undefined;
  let answer: WireAnswer;
  try {
    const wire: Wire = { ...form, port: "http", version: "1.1" };
    const call = { rpc: "", route: undefined, message: new Uint8Array(), json: "" };
    answer = readResponse(wire, { ...call, isStreaming: form.isStreaming }, response);
  } catch (error) {
    return `an answer that cannot be read (${String(error)})`;
  }
  if (answer.reason === undefined && (answer.code === "ok" || answer.code === "0")) {
    return id === requestId ? problemOfSubject(answer, form, pending) : "another's request id";
  }
  return problemOfError(answer, status);
}

/** Whether a request says that it has a longer body than it has: the service waits for the rest until the deadline. */
function lacksBody({ fields, body }: RpcInput["request"]): boolean {
  const lengths = fields.filter(([name]) => name.toLowerCase() === "content-length");
  return lengths.some(([, length]) => Number(length) > body.length);
}

function problemOfError(
  { code = "", reason = "" }: WireAnswer,
  status: number,
): string | undefined {
  if (!/^[A-Z_]+$/.test(reason)) return "an error without a reason";
  // Compression without an encoding is INTERNAL in gRPC and in Connect, though the fault is the caller's.
  if ((code === "13" || code === "internal") && reason === "INVALID_ARGUMENT") return undefined;
  if (reason === "INTERNAL" || reason === "UNAVAILABLE") return "an error of the server";
  if (!CONNECT_CODES.has(code) && !GRPC_CODES.has(code)) return "a code that nothing here declares";
  if (status >= 500 && status !== 501 && status !== 504) return "a status that nothing declares";
  return undefined;
}

function problemOfSubject(
  { answers }: WireAnswer,
  { codec }: Form,
  pending: Pending,
): string | undefined {
  const [first] = answers;
  if (first === undefined) return undefined;
  const { subjectId, source } =
    codec === "json"
      ? fromJsonString(AnswerSchema, first.toString())
      : fromBinary(AnswerSchema, first);
  if (pending.seen === undefined) {
    // Health and reflection have no handler, and see no caller.
    return subjectId === "" && source === "" ? undefined : "an answer without a handler";
  }
  const seen = pending.seen.caller?.subjectId ?? "";
  return seen === subjectId ? undefined : `the answer is ${subjectId}'s, the caller was ${seen}`;
}
