import type { Attributes } from "@opentelemetry/api";
import { status } from "../../error/grpc-status.ts";
import type { ServiceError } from "../../error/service-error.ts";
import type { SpanEnd } from "./span-end.ts";

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(status).map(([name, code]) => [code, name]),
);

/** The codes that are the server's fault, by the semantic conventions. */
const SERVER_FAULTS: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** What the conventions of gRPC say of each call. */
export function grpcAttributes(): Attributes {
  return { "rpc.system.name": "grpc" };
}

/** The name of a status code, such as `NOT_FOUND`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "UNKNOWN";
}

/** What became of a call that was served over gRPC. */
export function endOfGrpc(error: ServiceError | undefined): SpanEnd {
  const code = error?.grpcStatus ?? status.OK;
  const name = statusName(code);
  const attributes = { "rpc.response.status_code": name };
  return SERVER_FAULTS.has(code) ? { attributes, errorType: name } : { attributes };
}
