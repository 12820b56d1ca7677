import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import { Call, type CallStart } from "../../../src/runtime/call/call.ts";
import type { CallHeaders } from "../../../src/runtime/call/call-headers.ts";

/** Headers as a test writes them. */
export function headersOf(values: Readonly<Record<string, string>>): CallHeaders {
  return {
    all: (name) => (values[name] === undefined ? [] : [values[name]]),
    names: () => Object.keys(values),
  };
}

/** A bound method whose handler is never called. */
export function methodOf(more: Partial<BoundMethod> = {}): BoundMethod {
  return {
    index: 0,
    rpc: "hub.v1.HubService/Get",
    kind: "unary",
    descriptor: undefined,
    policy: { exposure: "PUBLIC", publish: true },
    isWrite: false,
    routes: [],
    handler: () => undefined,
    ...more,
  };
}

/** A call that has begun just now. */
export function callOf(more: Partial<CallStart> = {}): Call {
  return new Call({
    method: methodOf(),
    transport: "http",
    requestId: "req-1",
    headers: headersOf({ "user-agent": "curl/8" }),
    peer: { address: "10.0.0.1", certificateNames: [] },
    target: "/v1/hub/get?token=abc",
    httpMethod: "GET",
    readRequest: () => undefined,
    ...more,
  });
}

/** A destination that keeps the lines. */
export function linesOf() {
  const lines: string[] = [];
  return {
    destination: { write: (line: string) => void lines.push(line) },
    lines,
    parsed: () => lines.map((line) => JSON.parse(line)),
  };
}
