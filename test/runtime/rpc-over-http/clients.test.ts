import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import {
  createConnectTransport as createWebConnectTransport,
  createGrpcWebTransport as createWebGrpcWebTransport,
} from "@connectrpc/connect-web";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallContext } from "../../../src/runtime/call/call-context.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { columnsOf } from "../../support/effort.ts";
import { EchoService } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import type { EchoHandlers } from "../grpc/support/echo-methods.ts";
import { startWebServer, type WebServer } from "./support/web-server.ts";

const LARGE = new Uint8Array(100_000).fill(7);

/** What a handler saw of the end of its call, and its behaviour. */
let aborted: unknown[];
let waiting: number;
const handlers: EchoHandlers = {
  echo: async (request, context: CallContext) => {
    if (request.text === "refuse") {
      throw new ServiceError("RATE_LIMITED", "too much", {
        retryAfterSeconds: 2,
        details: { limit: 5 },
      });
    }
    if (request.text === "defect") throw new Error("secret");
    if (request.text === "wait") return endOf(context);
    context.setResponseHeader("x-own", "header");
    context.setResponseHeader("x-own-bin", Buffer.from("binary").toString("base64"));
    context.setResponseTrailer("x-last", "trailer");
    return { text: request.text, count: request.count, data: request.data };
  },
  expand: async function* (request, context: CallContext) {
    context.setResponseHeader("x-own", "header");
    context.setResponseTrailer("x-last", "trailer");
    for (let count = 0; count < request.count; count++) {
      yield { text: request.text, count, data: request.data };
    }
    if (request.text === "refuse") throw new ServiceError("FAILED_PRECONDITION", "no more");
    if (request.text === "wait") yield await endOf(context);
  },
};

function endOf({ signal }: CallContext): Promise<never> {
  waiting++;
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      aborted.push(signal.reason);
      reject(signal.reason);
    });
  });
}

let server: WebServer;
beforeEach(async () => {
  aborted = [];
  waiting = 0;
  server = await startWebServer({ handlers });
});
afterEach(() => server.close());

interface Client {
  readonly name: string;
  readonly transport: (baseUrl: string) => Transport;
  readonly isDuplex: boolean;
  readonly streamsRequests: boolean;
}

/** All clients with a codec, in an order in which every other one has both protocols. */
function clientsWith(useBinaryFormat: boolean): Client[] {
  const codec = useBinaryFormat ? "binary" : "JSON";
  const ofNode = [
    ["Connect", createConnectTransport, "1.1"],
    ["gRPC-Web", createGrpcWebTransport, "1.1"],
    ["gRPC-Web", createGrpcWebTransport, "2"],
    ["Connect", createConnectTransport, "2"],
  ] as const;
  const ofWeb = [
    ["Connect", createWebConnectTransport],
    ["gRPC-Web", createWebGrpcWebTransport],
  ] as const;
  return [
    ...ofNode.map(([protocol, create, httpVersion]) => ({
      name: `${protocol}, ${codec}, HTTP/${httpVersion}, gzip`,
      transport: (baseUrl: string) =>
        create({
          baseUrl,
          httpVersion,
          useBinaryFormat,
          sendCompression: compressionGzip,
          compressMinBytes: 1024,
        }),
      isDuplex: httpVersion === "2",
      streamsRequests: true,
    })),
    ...ofWeb.map(([protocol, create]) => ({
      name: `${protocol} of connect-web, ${codec}`,
      transport: (baseUrl: string) => create({ baseUrl, useBinaryFormat }),
      isDuplex: false,
      streamsRequests: false,
    })),
  ];
}

// Outside of CI, each with one codec.
const clients = [true, false].flatMap((useBinaryFormat, row) =>
  columnsOf(clientsWith(useBinaryFormat), row, 2),
);

async function rejection(promise: Promise<unknown>): Promise<ConnectError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function* of<Item>(...items: Item[]): AsyncIterable<Item> {
  yield* items;
}

describe.each(clients)("$name [TRANS-2]", ({ transport, isDuplex, streamsRequests }) => {
  const client = () => createClient(EchoService, transport(server.origin));

  it("gets an error with its details", async () => {
    const error = await rejection(client().echo({ text: "refuse" }));
    expect(error).toMatchObject({ code: Code.ResourceExhausted, rawMessage: "too much" });
    const types = error.details.map((detail) => ("type" in detail ? detail.type : ""));
    expect(types).toEqual(["google.rpc.ErrorInfo", "google.rpc.RetryInfo"]);
    expect(error.metadata.get("retry-after")).toBe("2");
  });

  it("gets no details of a defect", async () => {
    const error = await rejection(client().echo({ text: "defect" }));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(JSON.stringify(error.details)).not.toContain("secret");
  });

  it("gets an error after the messages of a stream", async () => {
    const error = await rejection(all(client().expand({ text: "refuse", count: 2 })));
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "no more" });
  });

  it("has its deadline enforced", async () => {
    // Until one reaches its handler in time, however slow the machine is.
    for (let timeoutMs = 100; waiting === 0; timeoutMs *= 2) {
      const error = await rejection(client().echo({ text: "wait" }, { timeoutMs }));
      expect(error.code).toBe(Code.DeadlineExceeded);
    }
    await expect
      .poll(() => aborted.length, { message: "the signal of the call is aborted" })
      .toBe(1);
  });

  it("ends a call by disconnecting", async () => {
    const gone = new AbortController();
    const call = rejection(client().echo({ text: "wait" }, { signal: gone.signal }));
    await expect.poll(() => waiting, { message: "the handler waits" }).toBe(1);
    gone.abort();
    expect((await call).code).toBe(Code.Canceled);
    await expect
      .poll(() => aborted, { message: "the handler is notified of the cancellation" })
      .toMatchObject([{ code: "CANCELLED" }]);
  });

  it("ends a stream by disconnecting", async () => {
    const gone = new AbortController();
    const read = async () => {
      const answers = client().expand({ text: "wait", count: 1 }, { signal: gone.signal });
      for await (const { count } of answers) {
        expect(count).toBe(0);
        gone.abort();
      }
    };
    expect((await rejection(read())).code).toBe(Code.Canceled);
    await expect
      .poll(() => aborted, { message: "the handler is notified of the cancellation" })
      .toMatchObject([{ code: "CANCELLED" }]);
  });

  it("gets a message, headers and trailers", async () => {
    let header: Headers | undefined;
    let trailer: Headers | undefined;
    const answer = await client().echo(
      { text: "hello", count: 3, data: LARGE },
      {
        onHeader: (headers) => {
          header = headers;
        },
        onTrailer: (trailers) => {
          trailer = trailers;
        },
      },
    );
    expect(answer).toMatchObject({ text: "hello", count: 3 });
    expect(Buffer.from(answer.data)).toEqual(Buffer.from(LARGE));
    expect(header?.get("x-own")).toBe("header");
    expect(header?.get("x-own-bin")).toBe("YmluYXJ5");
    expect(header?.get("x-request-id")).toBeTruthy();
    expect(header?.get("cache-control")).toBe("no-store");
    expect(trailer?.get("x-last")).toBe("trailer");
  });

  it("gets a stream of messages, headers and trailers", async () => {
    let header: Headers | undefined;
    let trailer: Headers | undefined;
    const answers = await all(
      client().expand(
        { text: "a", count: 200, data: LARGE.subarray(0, 20_000) },
        {
          onHeader: (headers) => {
            header = headers;
          },
          onTrailer: (trailers) => {
            trailer = trailers;
          },
        },
      ),
    );
    expect(answers.map(({ count }) => count)).toEqual(answers.map((_, index) => index));
    expect(answers).toHaveLength(200);
    expect(header?.get("x-own")).toBe("header");
    expect(trailer?.get("x-last")).toBe("trailer");
  });

  it("gets an empty stream", async () => {
    expect(await all(client().expand({ count: 0 }))).toEqual([]);
  });

  it.runIf(streamsRequests)("sends a stream of messages", async () => {
    const answer = await client().collect(of({ text: "a" }, { text: "b" }, { text: "c" }));
    expect(answer).toMatchObject({ text: "abc", count: 3 });
    expect(await client().collect(of())).toMatchObject({ text: "", count: 0 });
  });

  it.runIf(streamsRequests)("has half-duplex streams", async () => {
    const answers = await all(client().chat(of({ text: "a" }, { text: "b" })));
    expect(answers.map(({ text }) => text)).toEqual(["a", "b"]);
  });

  it.runIf(isDuplex)("has full-duplex streams", async () => {
    let answered: (() => void) | undefined;
    async function* questions() {
      for (const text of ["a", "b", "c"]) {
        const answer = new Promise<void>((resolve) => {
          answered = resolve;
        });
        yield { text };
        await answer;
      }
    }
    const texts: string[] = [];
    for await (const { text } of client().chat(questions())) {
      texts.push(text);
      answered?.();
    }
    expect(texts).toEqual(["a", "b", "c"]);
  });
});
