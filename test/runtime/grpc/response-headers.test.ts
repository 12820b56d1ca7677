import { afterEach, expect, test } from "vitest";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { rawCall, rawSession } from "./support/raw-call.ts";

let server: EchoServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test.each([
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
  ...["http2-settings", "te", "content-length", "content-type", "grpc-status", "grpc-encoding"],
])("a handler that sets %s is answered, without it", async (name) => {
  server = await startEchoServer({
    handlers: {
      echo: async (request, context) => {
        context.setResponseHeader(name, "own");
        context.setResponseHeader("x-own", "kept");
        return request;
      },
    },
  });
  const session = rawSession(server.port);
  const { grpcStatus, headers } = await rawCall(session, "/fixture.v1.EchoService/Echo");
  session.destroy();
  expect(grpcStatus).toBe(0);
  expect(headers?.[name]).not.toBe("own");
  expect(headers?.["x-own"]).toBe("kept");
});
