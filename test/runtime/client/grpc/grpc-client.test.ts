import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import type { Call } from "../../../../src/runtime/call/call.ts";
import type { CallContext } from "../../../../src/runtime/call/call-context.ts";
import type { ClientCallOptions } from "../../../../src/runtime/client/call/client-call.ts";
import type { GrpcClientOptions } from "../../../../src/runtime/client/grpc/grpc-channels.ts";
import { createGrpcClient } from "../../../../src/runtime/client/grpc/grpc-client.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { EchoResponseSchema, EchoService } from "../../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { startEchoServer } from "../../grpc/support/echo-server.ts";
import { frame } from "../../grpc/support/raw-call.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function clientOf(target: string, options: Partial<GrpcClientOptions> = {}) {
  const client = createGrpcClient(EchoService, { target, retry: false, ...options });
  closing.push(() => client.close());
  return client;
}

/** A server that answers each stream by a function; resolves to its target and the number of streams. */
async function foreignServer(answer: (stream: ServerHttp2Stream, count: number) => void) {
  const seen = { count: 0 };
  const server = createHttp2Server();
  server.on("sessionError", () => undefined);
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream, ++seen.count);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => void server.close());
  const { port } = server.address() as { port: number };
  return { target: `127.0.0.1:${port}`, seen };
}

const trailersOnly = (stream: ServerHttp2Stream, headers: Record<string, string | number>) =>
  stream.respond(
    { ":status": 200, "content-type": "application/grpc", ...headers },
    { endStream: true },
  );

describe("a target that cannot be reached", () => {
  test.each(["127.0.0.1:1", "host.invalid:1"])("%s", async (target) => {
    const error = await clientOf(target)
      .echo({})
      .catch((thrown: unknown) => thrown);
    // The error is not from a server.
    const reported = { code: "UNAVAILABLE", message: "unavailable", status: 503, isRemote: false };
    expect(error).toMatchObject(reported);
  });

  test("any call is retried, since nothing was sent", async () => {
    const attempts: unknown[] = [];
    const client = clientOf("127.0.0.1:1", {
      retry: { initialDelayMs: 1 },
      after: [(call, next) => (attempts.push(call), next())],
    });
    await expect(client.write({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(attempts.length).toBe(3);
  });

  test("streams", async () => {
    const client = clientOf("127.0.0.1:1");
    const read = async () => {
      for await (const _ of client.expand({ count: 1 }));
    };
    await expect(read()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test("a call ends if the server responds twice to one request", async () => {
  const { target } = await foreignServer((stream) => {
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": 0 }));
    const response = frame(toBinary(EchoResponseSchema, create(EchoResponseSchema)));
    stream.end(Buffer.concat([response, response]));
  });
  const answer = clientOf(target).echo({}, { timeoutMs: 60_000 });
  await expect(answer).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
});

test("a connection that the server drops is UNAVAILABLE", async () => {
  const { target } = await foreignServer((stream) => stream.session?.destroy());
  const error = await clientOf(target)
    .echo({})
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "UNAVAILABLE", isRemote: false });
});

test.each([4, 7, 8, 14, 16])("the status %i is attributed to the server", async (code) => {
  const { target } = await foreignServer((stream) => trailersOnly(stream, { "grpc-status": code }));
  const error = await clientOf(target)
    .echo({})
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ isRemote: true });
});

describe("a third-party server", () => {
  test.each([
    { name: "UNKNOWN", headers: { "grpc-status": 2 }, error: { code: "INTERNAL" } },
    { name: "NOT_FOUND", headers: { "grpc-status": 5 }, error: { code: "RESOURCE_NOT_FOUND" } },
    {
      name: "UNAUTHENTICATED",
      headers: { "grpc-status": 16, "grpc-message": "no%20token" },
      error: { code: "UNAUTHORIZED", message: "no token" },
    },
    { name: "ABORTED", headers: { "grpc-status": 10 }, error: { code: "FAILED_PRECONDITION" } },
    {
      name: "invalid details",
      headers: { "grpc-status": 7, "grpc-status-details-bin": "////" },
      error: { code: "FORBIDDEN" },
    },
    { name: "a status of no meaning", headers: { "grpc-status": 99 }, error: { code: "INTERNAL" } },
    {
      name: "HTML",
      headers: { "content-type": "text/html" },
      error: { status: expect.any(Number) },
    },
    { name: "503", headers: { ":status": 503 }, error: { code: "UNAVAILABLE" } },
  ])("$name", async ({ headers, error }) => {
    const { target } = await foreignServer((stream) => trailersOnly(stream, headers as never));
    const thrown = await clientOf(target)
      .echo({})
      .catch((each: unknown) => each);
    expect(thrown).toBeInstanceOf(ServiceError);
    expect(thrown).toMatchObject(error);
  });

  test.each([
    {
      name: "no protobuf",
      body: frame(Buffer.from([0x0a, 0xff])),
      message: /not a valid fixture.v1/,
    },
    {
      name: "more than the client accepts",
      body: frame(
        toBinary(EchoResponseSchema, create(EchoResponseSchema, { data: new Uint8Array(5000) })),
      ),
      message: /larger than the limit of this client/,
    },
  ])("a response that is $name", async ({ body, message }) => {
    const { target } = await foreignServer((stream) => {
      stream.respond(
        { ":status": 200, "content-type": "application/grpc" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": 0 }));
      stream.end(body);
    });
    const call = clientOf(target, { maxResponseBytes: 1000 }).echo({});
    await expect(call).rejects.toMatchObject({
      code: "INTERNAL",
      message: expect.stringMatching(message),
    });
  });

  test("if it drops the connection, only idempotent calls are retried", async () => {
    const { target, seen } = await foreignServer((stream, count) => {
      if (count % 2 === 1) stream.session?.destroy();
      else trailersOnly(stream, { "grpc-status": 5 });
    });
    const client = clientOf(target, { retry: { initialDelayMs: 1 } });
    await expect(client.write({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(seen.count).toBe(1);
    seen.count = 0;
    await expect(client.replace({})).rejects.toMatchObject({ code: "RESOURCE_NOT_FOUND" });
    expect(seen.count).toBe(2);
  });

  test("one that never answers", async () => {
    const { target } = await foreignServer(() => undefined);
    const client = clientOf(target, { timeoutMs: 80, streamTimeoutMs: 80 });
    await expect(client.echo({})).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    const read = async () => {
      for await (const _ of client.expand({}));
    };
    await expect(read()).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });
});

describe("our server", () => {
  test("errors arrive as they were thrown", async () => {
    const thrown = ServiceError.of(409, "SKILL_PUBLISHED", "it is published", {
      details: { id: "s1" },
      retryAfterSeconds: 2.5,
    });
    const handlers = {
      echo: () => {
        throw thrown;
      },
    };
    const echo = await startEchoServer({ handlers });
    closing.push(echo.close);
    const error = await clientOf(echo.target)
      .echo({})
      .catch((each: unknown) => each);
    expect(error).toMatchObject({
      status: 409,
      code: "SKILL_PUBLISHED",
      message: "it is published",
      details: { id: "s1" },
      retryAfterSeconds: 2.5,
    });
  });

  test("the details of an error arrive unchanged", async () => {
    const statusDetails = [{ typeUrl: "type.googleapis.com/a.B", value: new Uint8Array([8, 1]) }];
    const handlers = {
      echo: () => {
        throw ServiceError.of(400, "OWN", "own", { statusDetails, grpcStatus: 11 });
      },
    };
    const echo = await startEchoServer({ handlers });
    closing.push(echo.close);
    const answer = clientOf(echo.target).echo({});
    await expect(answer).rejects.toMatchObject({ grpcStatus: 11, message: "own", statusDetails });
  });

  test.each(["echo", "expand", "collect", "chat"] as const)(
    "the caller of %s gets headers and trailers",
    async (name) => {
      const say = (context: CallContext) => {
        context.appendResponseHeader("x-head", "a");
        context.appendResponseHeader("x-head", "b");
        context.appendResponseHeader("x-head-bin", "AAE=");
        context.appendResponseHeader("x-head-bin", "AAI=");
        context.setResponseTrailer("x-tail", "c");
      };
      const echo = await startEchoServer({
        handlers: {
          echo: async (request, context) => (say(context), request),
          async *expand(request, context) {
            say(context);
            yield request;
            throw new ServiceError("FORBIDDEN");
          },
          collect: async (_requests, context) => {
            say(context);
            throw new ServiceError("FORBIDDEN");
          },
          async *chat(requests, context) {
            say(context);
            yield* requests;
          },
        },
      });
      closing.push(echo.close);
      const seen: unknown[] = [];
      const options: ClientCallOptions = {
        onHeaders: (headers) =>
          void seen.push(headers.all("x-head"), headers.all("x-head-bin"), headers.all("x-tail")),
        onTrailers: (trailers) => void seen.push(trailers.all("x-tail"), [...trailers.names()]),
      };
      const client = clientOf(echo.target);
      async function* requests() {
        yield {};
      }
      const read = async (responses: AsyncIterable<unknown>) => {
        for await (const _ of responses);
      };
      const called = {
        echo: () => client.echo({}, options),
        expand: () => read(client.expand({}, options)),
        collect: () => client.collect(requests(), options),
        chat: () => read(client.chat(requests(), options)),
      };
      const end = await called[name]().catch((error: unknown) => error);
      if (name === "expand" || name === "collect") expect(end).toMatchObject({ code: "FORBIDDEN" });
      expect(seen.slice(0, 4)).toEqual([["a, b"], ["AAE=", "AAI="], [], ["c"]]);
      expect(seen[4]).toContain("x-tail");
    },
  );

  test("several values of one name are sent", async () => {
    let seen: Call | undefined;
    const echo = await startEchoServer({ chain: { requestInfo: (call) => void (seen = call) } });
    closing.push(echo.close);
    const metadata = { "X-Own": ["a", "b"], "x-own-bin": ["AAE=", "AAI="] };
    await clientOf(echo.target).echo({}, { metadata });
    expect(seen?.headers.all("x-own")).toEqual(["a,b"]);
    expect(seen?.headers.all("x-own-bin")).toEqual(["AAE=", "AAI="]);
  });

  test("a call may have no deadline", async () => {
    let seen: Call | undefined;
    const echo = await startEchoServer({ chain: { requestInfo: (call) => void (seen = call) } });
    closing.push(echo.close);
    const client = clientOf(echo.target, { timeoutMs: Number.POSITIVE_INFINITY });
    await client.echo({});
    expect(seen).toMatchObject({ clientTimeoutMs: undefined });
    await client.echo({}, { timeoutMs: 2 ** 40 });
    expect(seen?.clientTimeoutMs).toBeGreaterThan(2 ** 39);
  });

  test("the chain sees the headers and the deadline", async () => {
    let seen: Call | undefined;
    const echo = await startEchoServer({
      chain: { authentication: (call) => void (seen = call) },
    });
    closing.push(echo.close);
    const client = clientOf(echo.target, { internalToken: "t".repeat(20), userAgent: "hub/1" });
    await client.echo({}, { timeoutMs: 1234, metadata: { "x-raw-bin": "AAE=" } });
    expect(seen?.headers.all("x-svc-internal-token")).toEqual(["t".repeat(20)]);
    expect(seen?.headers.all("x-raw-bin")).toEqual(["AAE="]);
    expect(seen?.headers.all("user-agent")[0]).toMatch(/^hub\/1/);
    expect(seen?.clientTimeoutMs).toBeLessThanOrEqual(1234);
    expect(seen?.clientTimeoutMs).toBeGreaterThan(1000);
  });
});
