import { expect, test } from "vitest";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import { injectTraceContext } from "../../../../src/runtime/call/call-ids.ts";
import type { ClientCall } from "../../../../src/runtime/client/call/client-call.ts";
import { metadata, requestInfo } from "../../../../src/runtime/client/chain/outgoing-headers.ts";
import { redact } from "../../../../src/runtime/logging/redaction/redaction.ts";
import { callOf } from "../../authn/calls.ts";

function outgoing(transport: "http" | "grpc", context?: CallContext): ClientCall {
  const options = context === undefined ? {} : { context };
  return { transport, headers: new Map(), options } as unknown as ClientCall;
}

const sent = async () => undefined;

test.each(["grpc", "http"] as const)(
  "a token with a line break is an error that does not contain it, over %s",
  async (transport) => {
    const call = outgoing(transport);
    const error = await metadata({ internalToken: () => "s3cr3t-of-ours\n" })(call, sent).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(error.cause.message).toMatch(/^the header x-svc-internal-token .*trim/);
    expect(JSON.stringify(redact(error))).not.toContain("s3cr3t");
  },
);

test.each([
  ["grpc", "é", false],
  ["http", "é", true],
  ["http", "中", false],
  ["grpc", "plain text", true],
] as const)("over %s the value %s: sent is %s", async (transport, value, isSent) => {
  const call = outgoing(transport);
  const done = metadata({ metadata: { "X-Note": value } })(call, sent);
  await (isSent ? done : expect(done).rejects.toMatchObject({ code: "INTERNAL" }));
  expect(call.headers.get("x-note")).toBe(value);
});

test("a trace that is not recorded is passed on", async () => {
  const context = callOf();
  injectTraceContext(context);
  const call = outgoing("http", context as unknown as CallContext);
  await requestInfo({})(call, sent);
  expect(call.headers.get("traceparent")).toBe(`00-${context.traceId}-${context.spanId}-00`);
});

test("outside a served call a new trace begins, which others may record", async () => {
  const call = outgoing("http");
  await requestInfo({})(call, sent);
  expect(call.headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});
