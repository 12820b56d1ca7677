import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext, Interceptor } from "../../../../src/runtime/index.ts";
import { ServiceError } from "../../../../src/runtime/index.ts";
import type {
  EchoStatus,
  ResponseParameters,
  SimpleRequest,
} from "../gen/grpc/testing/messages_pb.ts";
import type { TestServiceHandlers } from "../gen/grpc/testing/test_server.ts";

/** The metadata that the cases expect back in the initial metadata. */
export const INITIAL_METADATA = "x-grpc-test-echo-initial";
/** The same for the trailing metadata. */
export const TRAILING_METADATA = "x-grpc-test-echo-trailing-bin";

/** The handlers of the service of gRPC's interoperability tests. */
export function interopHandlers(serverId: string): TestServiceHandlers {
  const simple = async (request: SimpleRequest) => {
    const { responseStatus, responseSize, fillServerId } = request;
    endWith(responseStatus);
    return { payload: payload(responseSize), serverId: fillServerId ? serverId : "" };
  };
  return {
    emptyCall: async () => ({}),
    unaryCall: simple,
    cacheableUnaryCall: simple,
    async *streamingOutputCall({ responseParameters }, context) {
      yield* responses(responseParameters, context);
    },
    async streamingInputCall(requests) {
      let size = 0;
      for await (const request of requests) size += request.payload?.body.length ?? 0;
      return { aggregatedPayloadSize: size };
    },
    async *fullDuplexCall(requests, context) {
      for await (const { responseStatus, responseParameters } of requests) {
        endWith(responseStatus);
        yield* responses(responseParameters, context);
      }
    },
    async *halfDuplexCall(requests, context) {
      const asked: ResponseParameters[] = [];
      for await (const { responseParameters } of requests) asked.push(...responseParameters);
      yield* responses(asked, context);
    },
  };
}

/** Sends the caller's metadata back. */
export const echoMetadata: Interceptor = (call, next) => {
  for (const value of call.headers.all(INITIAL_METADATA)) {
    call.setResponseHeader(INITIAL_METADATA, value);
  }
  for (const value of call.headers.all(TRAILING_METADATA)) {
    call.setResponseTrailer(TRAILING_METADATA, value);
  }
  return next();
};

async function* responses(parameters: readonly ResponseParameters[], { signal }: CallContext) {
  for (const { size, intervalUs } of parameters) {
    if (intervalUs > 0) await sleep(intervalUs / 1000, undefined, { signal });
    yield { payload: payload(size) };
  }
}

function payload(size: number) {
  if (size < 0) throw new ServiceError("INVALID_ARGUMENT", "a payload has no negative size");
  return { body: new Uint8Array(size) };
}

/** Ends the call with an error if the caller requests it. */
function endWith(status: EchoStatus | undefined): void {
  if (status !== undefined && status.code !== 0) {
    const { code, message } = status;
    throw ServiceError.of(500, "ASKED_FOR", message, { grpcStatus: code });
  }
}
