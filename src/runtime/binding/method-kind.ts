import type { DescMethod } from "@bufbuild/protobuf";

/** How many messages go each way; `raw` is an HTTP handler that is no RPC. */
export type MethodKind = DescMethod["methodKind"] | "raw";

/** Whether the response is a stream of messages. */
export function streamsResponse(kind: MethodKind): boolean {
  return kind === "server_streaming" || kind === "bidi_streaming";
}

/** Whether the request is a stream of messages. */
export function streamsRequest(kind: MethodKind): boolean {
  return kind === "client_streaming" || kind === "bidi_streaming";
}

/** Whether either is, so that a call may last. */
export function isStreaming(kind: MethodKind): boolean {
  return kind !== "unary" && kind !== "raw";
}
