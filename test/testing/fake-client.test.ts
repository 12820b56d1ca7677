import { create } from "@bufbuild/protobuf";
import { expect, expectTypeOf, test } from "vitest";
import type { ServiceClient } from "../../src/runtime/index.ts";
import { fakeClient } from "../../src/testing/index.ts";
import {
  type EchoRequest,
  EchoRequestSchema,
  type EchoResponse,
  EchoService,
} from "../runtime/grpc/fixture/gen/fixture/v1/fixture_pb.ts";

/** As a handler does: it knows the service, and not who serves it. */
async function shout(echo: ServiceClient<typeof EchoService>, text: string): Promise<string> {
  return (await echo.echo({ text })).text.toUpperCase();
}

async function textsOf(messages: AsyncIterable<{ readonly text: string }>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of messages) texts.push(text);
  return texts;
}

test("a fake is a client with the types of the service", async () => {
  const echo = fakeClient(EchoService, {
    echo: (request) => {
      expectTypeOf(request).toEqualTypeOf<EchoRequest>();
      return { text: request.text };
    },
  });
  expect(await shout(echo, "hello")).toBe("HELLO");
  expectTypeOf(echo.echo).returns.toEqualTypeOf<Promise<EchoResponse>>();
  // @ts-expect-error a field of another type
  fakeClient(EchoService, { echo: () => ({ text: 1 }) });
});

test("requests and responses are whole messages, as with a server", async () => {
  const requests: EchoRequest[] = [];
  const echo = fakeClient(EchoService, {
    async echo(request) {
      requests.push(request);
      return {};
    },
  });
  expect(await echo.echo({})).toMatchObject({ $typeName: "fixture.v1.EchoResponse", text: "" });
  expect(requests).toEqual([create(EchoRequestSchema)]);
});

test("the streams of a fake run in both directions", async () => {
  const echo = fakeClient(EchoService, {
    async *expand({ text }) {
      for (const letter of text) yield { text: letter };
    },
    async collect(requests) {
      return { text: (await textsOf(requests)).join("") };
    },
    async *chat(requests) {
      for await (const { text } of requests) yield { text: `${text}!` };
    },
  });
  const letters = async function* () {
    yield { text: "a" };
    yield { text: "b" };
  };
  expect(await textsOf(echo.expand({ text: "ab" }))).toEqual(["a", "b"]);
  expect(await echo.collect(letters())).toMatchObject({ text: "ab" });
  expect(await textsOf(echo.chat(letters()))).toEqual(["a!", "b!"]);
});

test("an RPC that the fake lacks is an error that names it", async () => {
  const echo = fakeClient(EchoService);
  const missing = {
    code: "UNIMPLEMENTED",
    message: "the fake of fixture.v1.EchoService has no Echo: fakeClient(EchoService, {echo: …})",
  };
  await expect(echo.echo({ text: "a" })).rejects.toMatchObject(missing);
  await expect(textsOf(echo.expand({ text: "a" }))).rejects.toMatchObject({
    code: "UNIMPLEMENTED",
  });
});
