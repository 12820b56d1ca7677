import { create, createFileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, expectTypeOf, test } from "vitest";
import {
  type ServiceClient,
  typedClient,
} from "../../../../src/runtime/client/call/typed-client.ts";
import type { EchoResponse, EchoService } from "../../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { fakeClient } from "../support/fake-transport.ts";

test("methods have the types of their RPCs", () => {
  type Client = ServiceClient<typeof EchoService>;
  expectTypeOf<Client["echo"]>().returns.toEqualTypeOf<Promise<EchoResponse>>();
  expectTypeOf<Client["expand"]>().returns.toEqualTypeOf<AsyncIterable<EchoResponse>>();
  expectTypeOf<Client["close"]>().returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf<{ text: string }>().toMatchTypeOf<Parameters<Client["echo"]>[0]>();
  // @ts-expect-error a field of another type
  expectTypeOf<{ text: number }>().toMatchTypeOf<Parameters<Client["echo"]>[0]>();
});

test("each RPC is a method", () => {
  const { client } = fakeClient(() => ({}));
  const names = ["close", "echo", "write", "replace", "expand", "collect", "chat"];
  expect(Object.keys(client)).toEqual(names);
});

test("an RPC named Close is not lost", async () => {
  const file = create(FileDescriptorProtoSchema, {
    name: "door.proto",
    package: "door",
    syntax: "proto3",
    messageType: [{ name: "Empty" }],
    service: [
      {
        name: "Door",
        method: [{ name: "Close", inputType: ".door.Empty", outputType: ".door.Empty" }],
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, { file: [file] });
  const service = createFileRegistry(set).getService("door.Door");
  if (service === undefined) throw new Error("no service");
  const log: string[] = [];
  const client = typedClient(service, {
    call: async (method) => void log.push(method.name),
    stream: async function* () {},
    close: async () => void log.push("closed"),
  }) as unknown as { close(): Promise<void> } & AsyncDisposable;
  await client.close();
  await client[Symbol.asyncDispose]();
  expect(log).toEqual(["Close", "closed"]);
});
