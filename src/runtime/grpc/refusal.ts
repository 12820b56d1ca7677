import type { ServerHttp2Stream } from "node:http2";
import { status } from "../error/grpc-status.ts";
import { ServiceError } from "../error/service-error.ts";

/**
 * Why grpc-js has ended a call by itself: of messages that are too large or no valid
 * compressed data it tells the client, and of the handler only that the call is over.
 * Undefined where it has not; then the client has gone.
 */
export function refusalOf(stream: ServerHttp2Stream): ServiceError | undefined {
  const told = stream.sentTrailers?.["grpc-status"] ?? stream.sentHeaders?.["grpc-status"];
  if (told === undefined) return undefined;
  return Number(told) === status.RESOURCE_EXHAUSTED
    ? new ServiceError("PAYLOAD_TOO_LARGE", "a message is larger than the limit")
    : new ServiceError("INVALID_ARGUMENT", "a message cannot be read");
}
