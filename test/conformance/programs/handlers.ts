import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { type CallContext, ServiceError } from "svc-access/runtime";
import {
  BidiStreamRequestSchema,
  ClientStreamRequestSchema,
  ConformancePayload_RequestInfoSchema,
  type ConformancePayloadSchema,
  type Error as ErrorDefinition,
  type Header,
  IdempotentUnaryRequestSchema,
  ServerStreamRequestSchema,
  type StreamResponseDefinition,
  UnaryRequestSchema,
  type UnaryResponseDefinition,
} from "../gen/connectrpc/conformance/v1/service_pb.ts";
import type { ConformanceServiceHandlers } from "../gen/connectrpc/conformance/v1/service_server.ts";
import { packed, requestInfo } from "./request-info.ts";

type Payload = MessageInitShape<typeof ConformancePayloadSchema>;

/** The handlers of the suite's service, as its proto file describes them. */
export const handlers: ConformanceServiceHandlers = {
  async unary(request, context) {
    const requests = [packed(UnaryRequestSchema, request)];
    return { payload: await answer(request.responseDefinition, requests, context) };
  },

  async idempotentUnary(request, context) {
    const requests = [packed(IdempotentUnaryRequestSchema, request)];
    return { payload: await answer(request.responseDefinition, requests, context) };
  },

  async clientStream(stream, context) {
    const requests: Any[] = [];
    let definition: UnaryResponseDefinition | undefined;
    for await (const request of stream) {
      if (requests.length === 0) definition = request.responseDefinition;
      requests.push(packed(ClientStreamRequestSchema, request));
    }
    return { payload: await answer(definition, requests, context) };
  },

  async *serverStream(request, context) {
    const definition = request.responseDefinition;
    if (definition === undefined) return;
    const requests = [packed(ServerStreamRequestSchema, request)];
    yield* answers(definition, requests, context);
  },

  async *bidiStream(stream, context) {
    let requests: Any[] = [];
    let definition: StreamResponseDefinition | undefined;
    let isFullDuplex = false;
    let isFirst = true;
    let sent = 0;
    for await (const request of stream) {
      requests.push(packed(BidiStreamRequestSchema, request));
      if (isFirst) {
        isFirst = false;
        isFullDuplex = request.fullDuplex;
        definition = request.responseDefinition;
        if (definition !== undefined) sendMetadata(definition, context);
      }
      if (!isFullDuplex) continue;
      const data = definition?.responseData[sent];
      if (definition === undefined || data === undefined) break;
      const info = sent === 0 ? requestInfo(context, requests) : { requests };
      await delay(definition.responseDelayMs, context);
      yield { payload: { data, requestInfo: info } };
      sent++;
      requests = [];
    }
    if (definition !== undefined) yield* restOf(definition, sent, requests, context);
  },

  async unimplemented() {
    throw new ServiceError("UNIMPLEMENTED", undefined, { statusDetails: [] });
  },
};

/** The one answer that is asked for. */
async function answer(
  definition: UnaryResponseDefinition | undefined,
  requests: readonly Any[],
  context: CallContext,
): Promise<Payload> {
  const info = requestInfo(context, requests);
  if (definition === undefined) return { requestInfo: info };
  sendMetadata(definition, context);
  await delay(definition.responseDelayMs, context);
  const { response } = definition;
  if (response.case === "error") {
    throw errorOf(response.value, [packed(ConformancePayload_RequestInfoSchema, info)]);
  }
  return { requestInfo: info, data: response.value ?? new Uint8Array() };
}

/** The stream of answers that is asked for. */
async function* answers(
  definition: StreamResponseDefinition,
  requests: readonly Any[],
  context: CallContext,
): AsyncGenerator<{ payload: Payload }> {
  sendMetadata(definition, context);
  yield* restOf(definition, 0, requests, context);
}

/** Its rest, where some were sent. */
async function* restOf(
  definition: StreamResponseDefinition,
  sent: number,
  requests: readonly Any[],
  context: CallContext,
): AsyncGenerator<{ payload: Payload }> {
  const { responseData, responseDelayMs, error } = definition;
  for (const [index, data] of responseData.entries()) {
    if (index < sent) continue;
    await delay(responseDelayMs, context);
    const first = index === 0 ? { requestInfo: requestInfo(context, requests) } : {};
    yield { payload: { data, ...first } };
  }
  if (error === undefined) return;
  const info = packed(ConformancePayload_RequestInfoSchema, requestInfo(context, requests));
  throw errorOf(error, responseData.length === 0 ? [info] : []);
}

function sendMetadata(
  { responseHeaders, responseTrailers }: { responseHeaders: Header[]; responseTrailers: Header[] },
  context: CallContext,
): void {
  for (const { name, value } of responseHeaders) {
    for (const each of value) context.appendResponseHeader(name, each);
  }
  for (const { name, value } of responseTrailers) {
    for (const each of value) context.appendResponseTrailer(name, each);
  }
}

function errorOf({ code, message, details }: ErrorDefinition, further: readonly Any[]) {
  return ServiceError.of(500, "ASKED_FOR", message ?? "", {
    grpcStatus: code,
    statusDetails: [...details, ...further],
  });
}

async function delay(ms: number, { signal }: CallContext): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal });
}
