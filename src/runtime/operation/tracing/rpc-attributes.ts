import type { Attributes } from "@opentelemetry/api";
import type { Transport } from "../../call/transport.ts";
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

/** What the conventions say of each call of gRPC, gRPC-Web and Connect. */
export function rpcAttributes(transport: Transport): Attributes {
  return { "rpc.system.name": transport === "connect" ? "connectrpc" : "grpc" };
}

/** The name of a status code, such as `NOT_FOUND`. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? "UNKNOWN";
}

/** What became of a call that was served over one of these. */
export function endOfRpc(transport: Transport, error: ServiceError | undefined): SpanEnd {
  const code = error?.grpcStatus ?? status.OK;
  const name = statusName(code);
  // Connect names only errors, in lower case.
  if (transport === "connect" && error === undefined) return { attributes: {} };
  const told = transport === "connect" ? name.toLowerCase() : name;
  const attributes = { "rpc.response.status_code": told };
  return SERVER_FAULTS.has(code) ? { attributes, errorType: told } : { attributes };
}
