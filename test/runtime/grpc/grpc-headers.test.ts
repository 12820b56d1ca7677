import { afterEach, expect, test } from "vitest";
import type { CallContext } from "../../../src/runtime/call/call-context.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
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
  ["YWI=", "YWI"],
  ["YWI", "YWI"],
  ["no base64!", "nobase64"],
  ["\u007e", ""],
])("a binary value %j of a handler is sent as base64 without padding: %j", async (value, sent) => {
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

test("each value that a handler appends is sent separately", async () => {
  server = await startEchoServer({
    handlers: {
      echo: async (request, context) => {
        context.appendResponseHeader("x-own", "a");
        context.appendResponseHeader("X-Own", "b");
        context.setResponseTrailer("x-own-bin", "YWI=");
        context.appendResponseTrailer("x-own-bin", "YWJj");
        context.appendResponseTrailer("grpc-status", "7");
        return request;
      },
    },
  });
  const session = rawSession(server.port);
  const { grpcStatus, headers, trailers } = await rawCall(session, "/fixture.v1.EchoService/Echo");
  session.destroy();
  expect(grpcStatus).toBe(0);
  // As Node joins them.
  expect([headers["x-own"], trailers["x-own-bin"]]).toEqual(["a, b", "YWI, YWJj"]);
});

test.each([
  ["of one response", "/fixture.v1.EchoService/Echo"],
  ["of a stream", "/fixture.v1.EchoService/Expand"],
])("the headers of a handler %s that fails are not trailers", async (_what, path) => {
  const fail = (context: CallContext) => {
    context.setResponseHeader("x-own", "head");
    context.setResponseTrailer("x-own-trailing", "tail");
    throw new ServiceError("FORBIDDEN");
  };
  server = await startEchoServer({
    handlers: {
      echo: async (_request, context) => fail(context),
      async *expand(_request, context) {
        fail(context);
      },
    },
  });
  const session = rawSession(server.port);
  const { headers, trailers } = await rawCall(session, path);
  session.destroy();
  expect(headers).toMatchObject({ "x-own": "head" });
  expect(headers["grpc-status"]).toBeUndefined();
  expect(trailers).toMatchObject({ "x-own-trailing": "tail", "grpc-status": "7" });
  expect(trailers["x-own"]).toBeUndefined();
});
