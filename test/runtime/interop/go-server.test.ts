/** The typed client of this runtime runs gRPC's interoperability tests with the server of grpc-go. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGrpcClient, type ServiceClient } from "../../../src/runtime/index.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";
import type { StreamingOutputCallResponse } from "./gen/grpc/testing/messages_pb.ts";
import { TestService, UnimplementedService } from "./gen/grpc/testing/test_pb.ts";
import { endless } from "./support/endless.ts";
import { type GoServer, grpcGoIsAbsent, startGoServer } from "./support/grpc-go.ts";

type Client = ServiceClient<typeof TestService>;

const REQUEST_SIZES = [27182, 8, 1828, 45904];
const RESPONSE_SIZES = [31415, 9, 2653, 58979];
const SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
const UNKNOWN = 2;

const payload = (size: number) => ({ body: new Uint8Array(size) });
const asking = (size: number) => ({ responseParameters: [{ size }] });
const failing = (message: string) => ({ responseStatus: { code: UNKNOWN, message } });

/** Sends each request after the response to the previous one. */
class PingPong {
  readonly sizes: number[] = [];
  #answered: () => void = () => undefined;

  async *requests() {
    for (const [index, size] of REQUEST_SIZES.entries()) {
      const answered = new Promise<void>((resolve) => {
        this.#answered = resolve;
      });
      yield { payload: payload(size), ...asking(RESPONSE_SIZES[index] ?? 0) };
      await answered;
    }
  }

  answered(size: number | undefined) {
    this.sizes.push(size ?? -1);
    this.#answered();
  }
}

async function sizesOf(responses: AsyncIterable<StreamingOutputCallResponse>) {
  const sizes: (number | undefined)[] = [];
  for await (const response of responses) sizes.push(response.payload?.body.length);
  return sizes;
}

interface Case {
  readonly name: string;
  readonly run: (client: Client) => Promise<unknown>;
  /** The expected result. */
  readonly is: unknown;
}

const CASES: readonly Case[] = [
  { name: "empty_unary", run: (client) => client.emptyCall({}), is: expect.anything() },
  {
    name: "large_unary",
    run: async (client) => {
      const request = { responseSize: 314_159, payload: payload(271_828) };
      return (await client.unaryCall(request)).payload?.body.length;
    },
    is: 314_159,
  },
  {
    name: "client_streaming",
    run: (client) =>
      client.streamingInputCall(
        (async function* () {
          for (const size of REQUEST_SIZES) yield { payload: payload(size) };
        })(),
      ),
    is: expect.objectContaining({ aggregatedPayloadSize: 74_922 }),
  },
  {
    name: "server_streaming",
    run: (client) =>
      sizesOf(client.streamingOutputCall({ responseParameters: RESPONSE_SIZES.map(sizeOnly) })),
    is: RESPONSE_SIZES,
  },
  {
    name: "ping_pong",
    run: async (client) => {
      const game = new PingPong();
      for await (const response of client.fullDuplexCall(game.requests())) {
        game.answered(response.payload?.body.length);
      }
      return game.sizes;
    },
    is: RESPONSE_SIZES,
  },
  {
    name: "empty_stream",
    run: (client) => sizesOf(client.fullDuplexCall((async function* () {})())),
    is: [],
  },
  {
    name: "custom_metadata, which only the server receives",
    run: async (client) => {
      const metadata = {
        "x-grpc-test-echo-initial": "test_initial_metadata_value",
        "x-grpc-test-echo-trailing-bin": "CgsKCwoL",
      };
      return (await client.unaryCall({ responseSize: 1 }, { metadata })).payload?.body.length;
    },
    is: 1,
  },
];

interface FailingCase {
  readonly name: string;
  readonly run: (client: Client) => Promise<unknown>;
  readonly error: object;
}

const FAILING_CASES: readonly FailingCase[] = [
  {
    name: "timeout_on_sleeping_server",
    run: (client) =>
      sizesOf(client.fullDuplexCall(endless({ payload: payload(27_182) }), { timeoutMs: 50 })),
    error: { code: "DEADLINE_EXCEEDED" },
  },
  {
    name: "cancel_after_begin",
    run: (client) => {
      const abort = new AbortController();
      const answer = client.streamingInputCall(endless(), { signal: abort.signal });
      abort.abort();
      return answer;
    },
    error: { code: "CANCELLED" },
  },
  {
    name: "cancel_after_first_response",
    run: async (client) => {
      const abort = new AbortController();
      const requests = endless({ payload: payload(27_182), ...asking(31_415) });
      for await (const _ of client.fullDuplexCall(requests, { signal: abort.signal })) {
        abort.abort();
      }
    },
    error: { code: "CANCELLED" },
  },
  {
    name: "status_code_and_message",
    run: (client) => client.unaryCall(failing("test status message")),
    error: { message: "test status message", grpcStatus: UNKNOWN },
  },
  {
    name: "status_code_and_message of a stream",
    run: (client) =>
      sizesOf(
        client.fullDuplexCall(
          (async function* () {
            yield failing("test status message");
          })(),
        ),
      ),
    error: { message: "test status message", grpcStatus: UNKNOWN },
  },
  {
    name: "special_status_message",
    run: (client) => client.unaryCall(failing(SPECIAL)),
    error: { message: SPECIAL, grpcStatus: UNKNOWN },
  },
  {
    // The server of grpc-go does not implement this method.
    name: "unimplemented_method",
    run: (client) => client.cacheableUnaryCall({}),
    error: { code: "UNIMPLEMENTED" },
  },
];

function sizeOnly(size: number) {
  return { size };
}

const isAbsent = grpcGoIsAbsent();

describe.skipIf(isAbsent)("grpc-go's server answers the typed client", () => {
  let server: GoServer;
  let client: Client;
  beforeAll(async () => {
    server = await startGoServer();
    client = createGrpcClient(TestService, { target: `localhost:${server.port}` });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
  });

  test.each(CASES)("$name", async ({ run, is }) => {
    expect(await run(client)).toEqual(is);
  });

  test.each(FAILING_CASES)("$name", async ({ run, error }) => {
    await expect(run(client)).rejects.toMatchObject(error);
  });

  test("unimplemented_service", async () => {
    await using other = createGrpcClient(UnimplementedService, {
      target: `localhost:${server.port}`,
    });
    await expect(other.unimplementedCall({})).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });
});

describe.skipIf(isAbsent || opensslIsAbsent())("and over TLS", () => {
  let certificates: Certificates;
  let server: GoServer;
  let client: Client;
  beforeAll(async () => {
    certificates = makeCertificates();
    const ca = certificates.authority("ca");
    server = await startGoServer(ca.issue("server", { names: "DNS:localhost" }));
    const target = `localhost:${server.port}`;
    client = createGrpcClient(TestService, { target, tls: { ca: ca.certificate } });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    certificates?.remove();
  });

  test.each(CASES)("$name", async ({ run, is }) => {
    expect(await run(client)).toEqual(is);
  });

  test.each(FAILING_CASES)("$name", async ({ run, error }) => {
    await expect(run(client)).rejects.toMatchObject(error);
  });
});
