import { connect as connectSocket } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startEchoServer } from "./support/echo-server.ts";
import { frame, rawCall, rawSession } from "./support/raw-call.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const paths = [
  "/fixture.v1.EchoService/Echo",
  "/fixture.v1.EchoService/Chat",
  "/grpc.health.v1.Health/Check",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
];

test("any bytes as messages get a status", async () => {
  const echo = await startEchoServer();
  const session = rawSession(echo.port);
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => new Uint8Array(frame(bytes))),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => new Uint8Array(frame(bytes, 1))),
  );
  const headers = fc.record(
    {
      "grpc-encoding": fc.constantFrom("identity", "gzip", "deflate", "x"),
      "grpc-timeout": fc.stringMatching(/^[0-9]{0,9}[HMSmunX]?$/),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), headers, body, async (path, given, bytes) => {
      const answer = await rawCall(session, path, given as Record<string, string>, bytes);
      expect(answer.streamError).toBeUndefined();
      // What is wrong is the caller's, also where gRPC has INTERNAL for it: never UNKNOWN.
      expect([0, 3, 4, 5, 8, 12, 13]).toContain(answer.grpcStatus);
      expect(answer.reason).not.toBe("INTERNAL");
    }),
    { numRuns: 400 },
  );
  session.destroy();
  await echo.close();
});

test("any bytes on a connection do not stop the server", async () => {
  const echo = await startEchoServer();
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.uint8Array({ maxLength: 200 }), async (preface, bytes) => {
      const socket = connectSocket(echo.port, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      if (preface) socket.write(PREFACE);
      socket.end(bytes);
      await new Promise((resolve) => socket.once("close", resolve));
    }),
    { numRuns: 100 },
  );
  const session = rawSession(echo.port);
  expect((await rawCall(session, paths[0] as string)).grpcStatus).toBe(0);
  session.destroy();
  await echo.close();
});
