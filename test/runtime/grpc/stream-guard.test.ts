import { createServer } from "node:http2";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { DEFAULT_CONNECTION_LIMITS } from "../../../src/runtime/grpc/connection-limits.ts";
import { StreamGuard } from "../../../src/runtime/grpc/stream-guard.ts";
import { StartUpError } from "../../../src/runtime/server/start-up-error.ts";

const guard = (server: object) =>
  new StreamGuard(server as Server, DEFAULT_CONNECTION_LIMITS, () => true);

test("the version of grpc-js that is installed has the seam", () => {
  const server = new Server();
  guard(server);
  server.createConnectionInjector(ServerCredentials.createInsecure()).destroy();
});

test.each([
  { name: "nothing of it", server: {} },
  { name: "no options", server: { createHttp2Server: () => createServer() } },
  { name: "no method", server: { commonServerOptions: {} } },
])("a version with $name is refused", ({ server }) => {
  expect(() => guard(server)).toThrow(StartUpError);
});

test.each([0, 2])("a version with %d listeners of streams is refused", (count) => {
  const http2Server = createServer();
  for (let index = 0; index < count; index++) http2Server.on("stream", () => undefined);
  const server = { commonServerOptions: {}, createHttp2Server: () => http2Server };
  guard(server);
  expect(() => server.createHttp2Server()).toThrow(/grpc-js/);
});
