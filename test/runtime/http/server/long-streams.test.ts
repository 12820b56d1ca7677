/** Streams of requests over HTTP/1.1 that exceed the time limit of other requests. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { envelopeOf } from "../../../../src/runtime/wire/envelope.ts";
import { startWebServer, type WebServerOptions } from "../../rpc-over-http/support/web-server.ts";
import { readAll, statusOf } from "../support.ts";

const TIMEOUT = 400;
const LIMITS = { requestTimeoutMs: TIMEOUT, headersTimeoutMs: TIMEOUT, checkingIntervalMs: 20 };
const TYPES = ["application/connect+proto", "application/grpc-web+proto"];
const MESSAGE = envelopeOf(Buffer.from("\n\u0001a"));
/** The prefix of a message of 64 KiB. */
const PREFIX = Buffer.of(0, 0, 1, 0, 0);

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A server that records the messages of a stream, and the outcome of its handler. */
async function startCounting(given: WebServerOptions = {}, pauseMs = 0) {
  const reported: string[] = [];
  const server = await startWebServer({
    limits: LIMITS,
    handlers: {
      async collect(requests) {
        let count = 0;
        try {
          for await (const _ of requests) {
            count++;
            if (pauseMs > 0) await sleep(pauseMs);
          }
          reported.push(`end after ${count}`);
        } catch (error) {
          reported.push((error as { code: string }).code);
          throw error;
        }
        return { text: "all", count };
      },
    },
    ...given,
  });
  opened.push(() => server.close());
  return { ...server, reported };
}

/** Begins a chunked request. */
function begin(port: number, type: string, rpc = "Collect") {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  opened.push(() => socket.destroy());
  const head = [
    `POST /fixture.v1.EchoService/${rpc} HTTP/1.1`,
    ...["Host: x", `Content-Type: ${type}`, "Transfer-Encoding: chunked", "", ""],
  ];
  socket.write(head.join("\r\n"));
  const send = (bytes: Uint8Array) => {
    socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    socket.write("\r\n");
  };
  return { send, end: () => socket.write("0\r\n\r\n"), answer: readAll(socket, 5 * TIMEOUT) };
}

test.each(TYPES)("%s continues as long as messages arrive", async (type) => {
  const { port, reported } = await startCounting();
  const { send, end, answer } = begin(port, type);
  const until = performance.now() + 4 * TIMEOUT;
  let sent = 0;
  while (performance.now() < until) {
    send(MESSAGE);
    sent++;
    await sleep(TIMEOUT / 8);
  }
  end();
  expect(statusOf(await answer)).toBe(200);
  expect(await answer).toContain("all");
  expect(reported).toEqual([`end after ${sent}`]);
});

test.each(TYPES)("%s continues while the handler is slow with a message", async (type) => {
  const { port, reported } = await startCounting({}, 3 * TIMEOUT);
  const { send, end, answer } = begin(port, type);
  send(MESSAGE);
  await sleep(2 * TIMEOUT);
  send(MESSAGE);
  end();
  expect(statusOf(await answer)).toBe(200);
  expect(reported).toEqual(["end after 2"]);
});

test.each<[string, readonly Uint8Array[]]>([
  ["sends nothing", []],
  ["sends a byte of a message now and then", [PREFIX]],
])("a client that %s gets 408 in time", async (_, drops) => {
  const { port, reported } = await startCounting();
  const { send, answer } = begin(port, "application/connect+proto");
  for (const drop of drops) send(drop);
  const drip = setInterval(() => drops.length > 0 && send(Buffer.of(0)), 50);
  opened.push(() => clearInterval(drip));
  const begun = performance.now();
  expect(statusOf(await answer)).toBe(408);
  expect(performance.now() - begun).toBeLessThan(4 * TIMEOUT);
  expect(reported).toEqual(["CANCELLED"]);
});

test("a client that stops sending gets 408, even after it has sent messages", async () => {
  const { port, reported, unrouted } = await startCounting();
  const { send, answer } = begin(port, "application/connect+proto");
  send(MESSAGE);
  await sleep(TIMEOUT / 2);
  send(MESSAGE);
  expect(statusOf(await answer)).toBe(408);
  expect(reported).toEqual(["CANCELLED"]);
  expect(unrouted.map(({ code }) => code)).toEqual(["REQUEST_TIMEOUT"]);
});

test("the single message of another request has only the usual time limit", async () => {
  const { port } = await startCounting();
  const { send, answer } = begin(port, "application/connect+proto", "Expand");
  send(PREFIX);
  const drip = setInterval(() => send(Buffer.of(0)), 50);
  opened.push(() => clearInterval(drip));
  expect(statusOf(await answer)).toBe(408);
});
