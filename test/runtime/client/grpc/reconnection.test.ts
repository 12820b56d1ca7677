import { expect, test } from "vitest";
import { channelOptions } from "../../../../src/runtime/client/grpc/grpc-channels.ts";

test("a gRPC client tries to connect again after two seconds at most", () => {
  const options = channelOptions({ target: "127.0.0.1:1" }, 30_000);
  expect(options["grpc.max_reconnect_backoff_ms"]).toBe(2000);
});
