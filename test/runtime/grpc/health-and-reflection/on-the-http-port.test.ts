/** Health and reflection over Connect, gRPC-Web and gRPC on the HTTP port, in both encodings. */
import { type ClientRequest, request } from "node:http";
import { type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { builtInServices } from "../../../../src/runtime/grpc/health-and-reflection/built-in-services.ts";
import { requestBudget } from "../../../../src/runtime/wire/message-budget.ts";
import { startWebServer, type WebServer } from "../../rpc-over-http/support/web-server.ts";
import { frame } from "../support/raw-call.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const [SERVING, NOT_SERVING, SERVICE_UNKNOWN] = [1, 2, 3];

const budget = requestBudget();
let server: WebServer;
let ready: boolean;

/** A client of a service that is known only at run time. */
function clientOf(name: string, transport: Transport): any {
  const service = builtInServices().find(({ typeName }) => typeName === name);
  return createClient(service as DescService, transport);
}

async function* of<Item>(...items: Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("invalid JSON", () => {
  const MAX_BYTES = 4096;
  beforeAll(async () => {
    server = await startWebServer({ maxBytes: MAX_BYTES, budget });
  });
  // Whatever the outcome of a call, it holds no memory any more.
  afterEach(() =>
    expect
      .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
      .toBe(0),
  );
  afterAll(() => server.close());

  it.each([
    ["half an object", "{"],
    ["nothing", ""],
    ["a list", "[]"],
    ["an unknown field", '{"services":"x"}'],
    ["a number for a name", '{"service":1}'],
    ["an object for a name", '{"service":{}}'],
    ["a field twice", '{"service":"a","service":"b"}'],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ["the binary encoding", Buffer.from([0x0a, 0x01, 0x61])],
  ])("%s is not a request of health", async (_name, body) => {
    const answer = await fetch(server.origin + CHECK, {
      method: "POST",
      headers: { "content-type": "application/json", "connect-protocol-version": "1" },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_argument" });
  });

  it.each([CHECK, WATCH, REFLECT])("%s: a message that is too large", async (path) => {
    const text = JSON.stringify({ [path === REFLECT ? "host" : "service"]: "x".repeat(MAX_BYTES) });
    const isUnary = path === CHECK;
    const answer = await fetch(server.origin + path, {
      method: "POST",
      headers: {
        "content-type": isUnary ? "application/json" : "application/connect+json",
        "connect-protocol-version": "1",
      },
      body: isUnary ? text : frame(Buffer.from(text)),
    });
    expect(await answer.text()).toContain('"code":"resource_exhausted"');
  });

  it.each([
    ["no question", "{", "invalid_argument"],
    ["two questions", '{"listServices":"","fileByFilename":"a"}', "invalid_argument"],
    ["an unknown question", '{"everything":true}', "invalid_argument"],
  ])("%s of reflection", async (_name, text, code) => {
    const answer = await fetch(server.origin + REFLECT, {
      method: "POST",
      headers: { "content-type": "application/connect+json" },
      body: frame(Buffer.from(text)),
    });
    expect(await answer.text()).toContain(`"code":"${code}"`);
  });

  it("without Connect's header it is not a call of Connect", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(server.origin + CHECK, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(415);
  });
});

const clients: [name: string, transport: (baseUrl: string) => Transport][] = [];
for (const useBinaryFormat of [true, false]) {
  const codec = useBinaryFormat ? "binary" : "JSON";
  for (const httpVersion of ["1.1", "2"] as const) {
    const options = { httpVersion, useBinaryFormat };
    clients.push(
      [
        `Connect, ${codec}, HTTP/${httpVersion}`,
        (baseUrl) => createConnectTransport({ baseUrl, ...options }),
      ],
      [
        `gRPC-Web, ${codec}, HTTP/${httpVersion}`,
        (baseUrl) => createGrpcWebTransport({ baseUrl, ...options }),
      ],
    );
  }
  clients.push([`gRPC, ${codec}`, (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat })]);
}

describe.each(clients)("%s", (_name, transportTo) => {
  let transport: Transport;
  beforeEach(async () => {
    ready = true;
    server = await startWebServer({ budget, isReady: () => ready });
    transport = transportTo(server.origin);
  });
  afterEach(() => server.close());

  const health = () => clientOf("grpc.health.v1.Health", transport);

  it("gets an error for an unknown service", async () => {
    const error = await health()
      .check({ service: "no.such.Service" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectError);
    expect((error as ConnectError).code).toBe(Code.NotFound);
    for await (const { status } of health().watch({ service: "no.such.Service" })) {
      expect(status).toBe(SERVICE_UNKNOWN);
      break;
    }
  });

  it("gets the health", async () => {
    expect((await health().check({})).status).toBe(SERVING);
    expect((await health().check({ service: "fixture.v1.EchoService" })).status).toBe(SERVING);
    ready = false;
    expect((await health().check({})).status).toBe(NOT_SERVING);
  });

  it("watches health until it disconnects", async () => {
    const gone = new AbortController();
    const statuses: number[] = [];
    const watch = async () => {
      for await (const { status } of health().watch({}, { signal: gone.signal })) {
        statuses.push(status);
        ready = false;
        if (statuses.length === 2) gone.abort();
      }
    };
    await expect(watch()).rejects.toMatchObject({ code: Code.Canceled });
    expect(statuses).toEqual([SERVING, NOT_SERVING]);
  });

  it.each(["v1", "v1alpha"])("uses reflection %s", async (version) => {
    const name = `grpc.reflection.${version}.ServerReflection`;
    const questions = of(
      { host: "here", messageRequest: { case: "listServices", value: "" } },
      { messageRequest: { case: "fileContainingSymbol", value: "fixture.v1.EchoRequest.text" } },
      { messageRequest: { case: "fileContainingSymbol", value: "no.Symbol" } },
      {
        messageRequest: {
          case: "fileContainingExtension",
          value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 50810 },
        },
      },
    );
    const answers: any[] = await all(clientOf(name, transport).serverReflectionInfo(questions));
    const [list, found, missing, extension] = answers.map((answer) => answer.messageResponse);
    expect(answers).toHaveLength(4);
    expect(answers[0].validHost).toBe("here");
    expect(answers[0].originalRequest.messageRequest.case).toBe("listServices");
    expect(list.value.service.map((each: { name: string }) => each.name)).toContain(name);
    const [file] = found.value.fileDescriptorProto;
    expect(fromBinary(FileDescriptorProtoSchema, file).name).toBe("fixture/v1/fixture.proto");
    expect(missing).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
    expect(extension.case).toBe("fileDescriptorResponse");
  });
});

describe("limits", () => {
  afterEach(() => server.close());

  const TYPES = ["application/connect+json", "application/connect+proto", "application/grpc-web"];
  const empty = (type: string) => frame(Buffer.from(type.endsWith("json") ? "{}" : ""));

  /** A request whose body does not end, or does not arrive. */
  function open(path: string, headers: Readonly<Record<string, string>>): ClientRequest {
    const call = request(server.origin + path, { method: "POST", headers });
    call.flushHeaders();
    return call;
  }
  const textOf = (call: ClientRequest) =>
    new Promise<string>((resolve, reject) => {
      call.on("error", reject);
      call.on("response", async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece as Buffer);
        resolve(`${response.statusCode} ${Buffer.concat(pieces).toString("latin1")}`);
      });
    });

  it.each([
    [CHECK, "application/json"],
    [CHECK, "application/proto"],
    [WATCH, "application/connect+json"],
    [REFLECT, "application/connect+json"],
    [REFLECT, "application/grpc-web+json"],
  ])("%s as %s: a request that does not come", async (path, type) => {
    server = await startWebServer({ builtIn: { requestMs: 30 } });
    const call = open(path, {
      "content-type": type,
      "connect-protocol-version": "1",
      "content-length": "100",
    });
    expect(await textOf(call)).toMatch(/deadline_exceeded|grpc-status: 4/);
    call.destroy();
  });

  it("the deadline of the client", async () => {
    server = await startWebServer();
    const headers = { "content-type": "application/connect+json", "connect-timeout-ms": "20" };
    const call = open(WATCH, headers);
    call.end(empty("json"));
    expect(await textOf(call)).toContain('"code":"deadline_exceeded"');
  });

  it("the number of watches is limited over all protocols", async () => {
    server = await startWebServer({ builtIn: { watchers: TYPES.length } });
    const watching = await Promise.all(
      TYPES.map(
        (type) =>
          new Promise<ClientRequest>((resolve, reject) => {
            const call = open(WATCH, { "content-type": type });
            call.on("error", reject);
            call.on("response", (response) => response.once("data", () => resolve(call)));
            call.end(empty(type));
          }),
      ),
    );
    for (const type of TYPES) {
      const late = open(WATCH, { "content-type": type });
      late.end(empty(type));
      expect(await textOf(late)).toMatch(/resource_exhausted|grpc-status: 8/);
    }
    for (const call of watching) call.on("error", () => undefined).destroy();
  });
});
