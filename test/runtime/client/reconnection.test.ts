/** How soon a gRPC client connects again to a server that was down. */
import type { ChannelOptions } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";

const given: ChannelOptions[] = [];
vi.mock("@grpc/grpc-js", async (load) => {
  const library = await load<typeof import("@grpc/grpc-js")>();
  class Client extends library.Client {
    constructor(...args: ConstructorParameters<typeof library.Client>) {
      given.push(args[2] ?? {});
      super(...args);
    }
  }
  return { ...library, Client };
});

test("the pause between attempts to connect stays short, for unary calls and for streams", async () => {
  const { GrpcChannels } = await import("../../../src/runtime/client/grpc/grpc-channels.ts");
  new GrpcChannels({ target: "127.0.0.1:1" }).close();
  expect(given.map((options) => options["grpc.max_reconnect_backoff_ms"])).toEqual([2000, 2000]);
});
