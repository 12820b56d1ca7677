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

test.each([
  ["YWI=", "YWI="],
  ["YWI", "YWI="],
  ["no base64!", "nobase64"],
  ["\u007e", ""],
])("a binary value %j of a handler is sent as base64: %j", async (value, sent) => {
  server = await startEchoServer({
    handlers: {
      echo: async (request, context) => {
        context.setResponseHeader("x-own-bin", value);
        context.setResponseTrailer("x-own-trailing-bin", value);
        return request;
      },
    },
  });
  const session = rawSession(server.port);
  const { headers, trailers } = await rawCall(session, "/fixture.v1.EchoService/Echo");
  session.destroy();
  expect(headers?.["x-own-bin"]).toBe(sent);
  expect(trailers?.["x-own-trailing-bin"]).toBe(sent);
});
