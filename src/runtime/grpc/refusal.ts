import { status } from "../error/grpc-status.ts";
import { ServiceError } from "../error/service-error.ts";

/**
 * What grpc-js refuses by itself: messages that are too large, or no valid compressed data.
 *
 * @param grpcStatus what it would tell the client
 */
export function refusalOf(grpcStatus: unknown): ServiceError {
  return Number(grpcStatus) === status.RESOURCE_EXHAUSTED
    ? new ServiceError("PAYLOAD_TOO_LARGE", "a message is larger than the limit")
    : new ServiceError("INVALID_ARGUMENT", "a message cannot be read");
}
