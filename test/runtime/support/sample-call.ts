import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import type { Call, CallStart } from "../../../src/runtime/call/call.ts";
import type { CallHeaders } from "../../../src/runtime/call/call-headers.ts";
import { boundMethod, newCall, sentHeaders } from "./call.ts";

/** Headers as a test writes them. */
export function headersOf(values: Readonly<Record<string, string>>): CallHeaders {
  return sentHeaders(Object.entries(values));
}

/** A bound method whose handler is never called. */
export function methodOf(more: Partial<BoundMethod> = {}): BoundMethod {
  return boundMethod({ rpc: "hub.v1.HubService/Get", ...more });
}

/** A call that has just begun. */
export function callOf(more: Partial<CallStart> = {}): Call {
  return newCall({
    method: methodOf(),
    requestId: "req-1",
    headers: headersOf({ "user-agent": "curl/8" }),
    target: "/v1/hub/get?token=abc",
    ...more,
  });
}

/** A destination that records the lines. */
export function linesOf() {
  const lines: string[] = [];
  return {
    destination: { write: (line: string) => void lines.push(line) },
    lines,
    parsed: () => lines.map((line) => JSON.parse(line)),
  };
}
