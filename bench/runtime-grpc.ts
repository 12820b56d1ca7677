/**
 * The gRPC server beside a bare one of grpc-js, with the same codecs and handler:
 * calls a second, and processor time a call. node bench/runtime-grpc.ts
 */
import { fork } from "node:child_process";
import { type ClientHttp2Session, connect } from "node:http2";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import {
  EchoRequestSchema,
  EchoResponseSchema,
} from "../test/runtime/grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { startEchoServer } from "../test/runtime/grpc/support/echo-server.ts";

const PATH = "/fixture.v1.EchoService/Echo";
const CONCURRENCY = 64;
const CONNECTIONS = 4;
const ROUND_MS = 600;
const ROUNDS = 21;

if (process.send === undefined) await compare();
else process.on("message", (port: number) => void generateLoad(port));

interface Result {
  readonly rate: number;
  readonly cpu: number;
}

async function compare(): Promise<void> {
  const bare = await startBareServer();
  const own = await startEchoServer();
  const load = fork(fileURLToPath(import.meta.url));
  const measure = async (port: number) => {
    const before = process.cpuUsage();
    const answer = new Promise<{ calls: number; seconds: number }>((resolve) =>
      load.once("message", (message) => resolve(message as { calls: number; seconds: number })),
    );
    load.send(port);
    const { calls, seconds } = await answer;
    const { user, system } = process.cpuUsage(before);
    return { rate: calls / seconds, cpu: (user + system) / calls };
  };
  const results: Result[][] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, port] of [bare.port, own.port].entries()) {
      const result = await measure(port);
      // The first round warms up.
      if (round >= 0) results[index]?.push(result);
    }
  }
  const [left, right] = results as [Result[], Result[]];
  const print = (name: string, rounds: readonly Result[]) => {
    const rate = median(rounds.map((round) => round.rate));
    const cpu = median(rounds.map((round) => round.cpu));
    console.log(
      `${name.padEnd(24)}${rate.toFixed(0)} calls/s   ${cpu.toFixed(1)} µs of CPU a call`,
    );
  };
  print("grpc-js, bare", left);
  print("svc-access with chain", right);
  // Round by round: both sides of a round saw the same machine.
  const ratio = (of: (own: Result, bare: Result) => number) =>
    median(right.map((own, round) => of(own, left[round] as Result))).toFixed(2);
  const rate = ratio((own, bare) => own.rate / bare.rate);
  const cpu = ratio((own, bare) => bare.cpu / own.cpu);
  console.log(`ratio ${rate} (at least 0.85); of CPU ${cpu}`);
  load.kill();
  bare.server.forceShutdown();
  await own.close();
}

async function startBareServer(): Promise<{ server: Server; port: number }> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  const definition = {
    Echo: {
      path: PATH,
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes: Buffer) => fromBinary(EchoRequestSchema, bytes),
      requestSerialize: (value: never) => Buffer.from(toBinary(EchoRequestSchema, value)),
      responseDeserialize: (bytes: Buffer) => fromBinary(EchoResponseSchema, bytes),
      responseSerialize: (value: never) => Buffer.from(toBinary(EchoResponseSchema, value)),
    },
  } as unknown as ServiceDefinition;
  server.addService(definition, {
    Echo: (
      { request }: { request: { text: string; count: number; data: Uint8Array } },
      callback: (error: null, value: unknown) => void,
    ) => {
      const { text, count, data } = request;
      callback(null, create(EchoResponseSchema, { text, count, data }));
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { server, port };
}

async function generateLoad(port: number): Promise<void> {
  const message = toBinary(
    EchoRequestSchema,
    create(EchoRequestSchema, { text: "hello, world", count: 7, data: new Uint8Array(64) }),
  );
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const sessions = Array.from({ length: CONNECTIONS }, () => connect(`http://127.0.0.1:${port}`));
  const start = performance.now();
  const end = start + ROUND_MS;
  let calls = 0;
  const worker = async (session: ClientHttp2Session): Promise<void> => {
    while (performance.now() < end) {
      await callOnce(session, frame);
      calls++;
    }
  };
  await Promise.all(
    Array.from({ length: CONCURRENCY }, (_, index) =>
      worker(sessions[index % CONNECTIONS] as ClientHttp2Session),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  for (const session of sessions) session.destroy();
  process.send?.({ calls, seconds });
}

function callOnce(session: ClientHttp2Session, frame: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": PATH,
      "content-type": "application/grpc+proto",
      "grpc-timeout": "5S",
      "user-agent": "bench",
      te: "trailers",
    });
    let status = "";
    stream.on("trailers", (trailers) => {
      status = String(trailers["grpc-status"]);
    });
    stream.on("error", reject);
    stream.on("close", () => (status === "0" ? resolve() : reject(new Error(`status ${status}`))));
    stream.resume();
    stream.end(frame);
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] as number;
}
