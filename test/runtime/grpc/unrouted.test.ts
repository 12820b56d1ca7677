import type { ClientHttp2Session } from "node:http2";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { UnroutedRequest } from "../../../src/runtime/chain/call-stages.ts";
import { type EchoServer, startEchoServer } from "./support/echo-server.ts";
import { rawCall, rawSession } from "./support/raw-call.ts";

const ECHO = "/fixture.v1.EchoService/Echo";
let echo: EchoServer;
let session: ClientHttp2Session;
const notified: UnroutedRequest[] = [];

beforeAll(async () => {
  echo = await startEchoServer({
    options: { onUnrouted: (request) => void notified.push(request) },
  });
  session = rawSession(echo.port);
});
beforeEach(() => {
  notified.length = 0;
});
afterAll(async () => {
  session.destroy();
  await echo.close();
});

test.each([
  {
    name: "an RPC that there is not",
    path: "/fixture.v1.EchoService/Nothing",
    headers: {},
    request: { httpMethod: "POST", status: 200, code: "UNIMPLEMENTED" },
  },
  {
    name: "a path that is none",
    path: "/",
    headers: {},
    request: { httpMethod: "POST", status: 200, code: "UNIMPLEMENTED" },
  },
  {
    name: "a request of HTTP",
    path: ECHO,
    headers: { "content-type": "application/json" },
    request: { httpMethod: "POST", status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
  },
  {
    name: "a method of HTTP",
    path: ECHO,
    headers: { ":method": "GET" },
    request: { httpMethod: "GET", status: 405, code: "METHOD_NOT_ALLOWED" },
  },
])("$name is reported, once, as it was sent", async ({ path, headers, request }) => {
  const answer = await rawCall(session, path, { ...headers, "x-request-id": "mine" });
  expect(answer.httpStatus).toBe(request.status);
  expect(notified).toEqual([
    {
      ...request,
      transport: "grpc",
      target: path,
      requestId: "mine",
      peer: { address: "127.0.0.1", certificateNames: [] },
    },
  ]);
});

test("a call of an RPC is not reported", async () => {
  expect((await rawCall(session, ECHO)).grpcStatus).toBe(0);
  expect(notified).toEqual([]);
});
