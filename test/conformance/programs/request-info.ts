import { create, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import type { CallContext, CallHeaders, Interceptor } from "svc-access/runtime";
import {
  type ConformancePayload_RequestInfo,
  ConformancePayload_RequestInfoSchema,
  type Header,
} from "../gen/connectrpc/conformance/v1/service_pb.ts";

const headersOf = new WeakMap<CallContext, CallHeaders>();

/** Handlers see no headers: those of a call are theirs who stand before them. */
export const keepHeaders: Interceptor = (call, next) => {
  headersOf.set(call, call.headers);
  return next();
};

/** What a server saw of a call, for the suite to compare with what was sent. */
export function requestInfo(
  context: CallContext,
  requests: readonly Any[],
): ConformancePayload_RequestInfo {
  const headers = headersOf.get(context);
  if (headers === undefined) throw new Error("the headers of the call were not kept");
  const timeoutMs = timeoutOf(headers);
  return create(ConformancePayload_RequestInfoSchema, {
    requestHeaders: toHeaderList(headers),
    requests: [...requests],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** A message with its type. */
export function packed<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema> & Message,
): Any {
  return anyPack(schema, message);
}

/** Headers as the suite's messages have them. */
export function toHeaderList(headers: CallHeaders): Pick<Header, "name" | "value">[] {
  return [...new Set(headers.names())].map((name) => ({ name, value: [...headers.all(name)] }));
}

const GRPC_TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const NANOSECONDS: Readonly<Record<string, bigint>> = {
  H: 3_600_000_000_000n,
  M: 60_000_000_000n,
  S: 1_000_000_000n,
  m: 1_000_000n,
  u: 1_000n,
  n: 1n,
};

/** How long the client says that it waits: the deadline of the call is never later, but may be earlier. */
function timeoutOf(headers: CallHeaders): bigint | undefined {
  const [connect] = headers.all("connect-timeout-ms");
  if (connect !== undefined) return BigInt(connect);
  const [grpc] = headers.all("grpc-timeout");
  const [, count, unit] = GRPC_TIMEOUT.exec(grpc ?? "") ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return (BigInt(count) * (NANOSECONDS[unit] ?? 0n)) / 1_000_000n;
}
