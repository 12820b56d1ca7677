import { toUSVString } from "node:util";
import { expect, test } from "vitest";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { statusTrailers } from "../../../src/runtime/grpc/response-status.ts";

/** What clients take of all trailers. */
const USUAL_LIMIT = 8192;

test.each([
  ["letters", "x"],
  ["three bytes a character", "中"],
  ["four bytes a character", "😀"],
  ["half a character", "\ud83d"],
  ["what is escaped", "\n"],
])("a long message of %s fits into what clients take, and none of it is broken", (_, text) => {
  const error = new ServiceError("INVALID_ARGUMENT", text.repeat(5000), {
    details: { field: text.repeat(5000) },
  });
  const trailers = statusTrailers(error, "hub");
  const bytes = Object.entries(trailers).map(([name, value]) => name.length + `${value}`.length);
  expect(bytes.reduce((sum, length) => sum + length)).toBeLessThan(USUAL_LIMIT);
  const reported = decodeURIComponent(`${trailers["grpc-message"]}`);
  expect(reported.length).toBeGreaterThan(100);
  expect(toUSVString(text).repeat(5000).startsWith(reported)).toBe(true);
});

test("a retry delay that has passed is omitted", () => {
  const error = new ServiceError("RATE_LIMITED", "slowly", { retryAfterSeconds: -3.5 });
  expect(statusTrailers(error, "hub")["retry-after"]).toBe("0");
});
