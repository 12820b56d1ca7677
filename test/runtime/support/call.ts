import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import { Call, type CallStart } from "../../../src/runtime/call/call.ts";
import type { CallHeaders } from "../../../src/runtime/call/call-headers.ts";

/** Headers as sent: a name may occur several times. */
export type SentHeaders = Iterable<readonly [name: string, value: string]>;

/** The form of headers in adapters. */
export function sentHeaders(sent: SentHeaders): CallHeaders {
  const values = new Map<string, string[]>();
  for (const [name, value] of sent) {
    const lower = name.toLowerCase();
    values.set(lower, [...(values.get(lower) ?? []), value]);
  }
  return { all: (name) => values.get(name) ?? [], names: () => values.keys() };
}

/** A PUBLIC method whose handler returns nothing, with changes. */
export function boundMethod(more: Partial<BoundMethod> = {}): BoundMethod {
  return {
    index: 0,
    rpc: "test.v1.Service/Method",
    kind: "unary",
    descriptor: undefined,
    policy: { exposure: "PUBLIC", publish: true },
    isWrite: false,
    routes: [],
    handler: () => ({}),
    ...more,
  };
}

/** A call that has just begun, with changes. */
export function newCall(more: Partial<CallStart> = {}): Call {
  return new Call({
    method: boundMethod(),
    transport: "http",
    requestId: "test",
    headers: sentHeaders([]),
    peer: { address: "10.0.0.1", certificateNames: [] },
    target: "/",
    httpMethod: "GET",
    readRequest: () => ({}),
    ...more,
  });
}
