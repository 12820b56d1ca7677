import { expect, test } from "vitest";
import {
  isStreaming,
  type MethodKind,
  streamsRequest,
  streamsResponse,
} from "../../../src/runtime/binding/bound-method.ts";

test.each<[MethodKind, boolean, boolean]>([
  ["raw", false, false],
  ["unary", false, false],
  ["client_streaming", true, false],
  ["server_streaming", false, true],
  ["bidi_streaming", true, true],
])("%s streams the request: %s, and the response: %s", (kind, request, response) => {
  expect(streamsRequest(kind)).toBe(request);
  expect(streamsResponse(kind)).toBe(response);
  expect(isStreaming(kind)).toBe(request || response);
});
