import type { DescMethod } from "@bufbuild/protobuf";
import type { AccessPolicy } from "../../api/format.ts";
import type { HttpRoute } from "./service-binding.ts";

/** A handler of any kind; `kind` of the method says which. */
// biome-ignore lint/suspicious/noExplicitAny: the handler types meet here, and the kind distinguishes them
export type AnyHandler = (request: any, context: any) => unknown;

/** An RPC, or a raw HTTP handler, with everything that is needed to serve it. */
export interface BoundMethod {
  /** Its index among the methods of the server, from 0. */
  readonly index: number;
  /** The full method name, such as `hub.skills.v1.SkillService/GetSkill`; the declared path of a raw handler. */
  readonly rpc: string;
  readonly kind: MethodKind;
  /** Absent for a raw handler. */
  readonly descriptor: DescMethod | undefined;
  readonly policy: AccessPolicy;
  /** Whether a call may change anything (docs/requirements.md, ANNO-14). */
  readonly isWrite: boolean;
  readonly routes: readonly HttpRoute[];
  readonly handler: AnyHandler;
}

/** How many messages are sent in each direction; `raw` is an HTTP handler that is not an RPC. */
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
