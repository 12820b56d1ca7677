/** Calls that arrive together and each have a large response, which the client does not read. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test, vi } from "vitest";
import { budgetOf } from "../../../src/runtime/wire/message-budget.ts";
import { responsesOfTurn } from "../../../src/runtime/wire/turn-budget.ts";
import { columnsOf } from "../../support/effort.ts";
import { EchoResponseSchema } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { frame } from "../grpc/support/raw-call.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  headerBlock,
  RawHttp2,
  rawFrame,
  uint32,
} from "../hostile/support/raw-http2.ts";
import { startWebServer } from "../rpc-over-http/support/web-server.ts";

const MIB = 1024 * 1024;
const CALLS = 40;
/** Of the process; one connection has half of it, which is four responses. */
const UNREAD_BYTES = 17 * MIB;
const INITIAL_WINDOW_SIZE = 4;

/** The empty message, where it has no envelope. */
const BODIES: Readonly<Record<string, Uint8Array>> = {
  "application/proto": new Uint8Array(),
  "application/json": Buffer.from("{}"),
};

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const opened: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of opened.splice(0).reverse()) await close();
});

test.each(columnsOf(["application/grpc", "application/grpc-web+proto", "application/proto"], 0, 3))(
  "%s: one of them is made in a turn, and those beyond the memory are cut off [TRANS-4]",
  async (type) => {
    const text = "x".repeat(2 * MIB);
    const budget = budgetOf(UNREAD_BYTES);
    let [made, inTurn, mostInTurn, mostUnread] = [0, 0, 0, 0];
    const spend = responsesOfTurn.spend.bind(responsesOfTurn);
    vi.spyOn(responsesOfTurn, "spend").mockImplementation((bytes, rpc) => {
      if (inTurn++ === 0) {
        setImmediate(() => {
          inTurn = 0;
        });
      }
      made++;
      mostInTurn = Math.max(mostInTurn, inTurn);
      mostUnread = Math.max(mostUnread, budget.unread.bytes);
      spend(bytes, rpc);
    });
    const { port, close } = await startWebServer({
      maxBytes: 4 * MIB,
      budget,
      handlers: {
        echo: async () => create(EchoResponseSchema, { text }),
      },
    });
    opened.push(close);
    const client = await callAll(port, type);

    const resets = () => client.received.filter((one) => one.type === FRAME.RST_STREAM).length;
    await expect.poll(() => made, { message: "all responses are made" }).toBe(CALLS);
    await expect.poll(resets, { message: "all streams but four are reset" }).toBe(CALLS - 4);
    expect(mostInTurn).toBe(1);
    expect(mostUnread).toBeLessThanOrEqual(UNREAD_BYTES / 2);
  },
);

const TYPES = [
  "application/grpc",
  "application/grpc-web+proto",
  "application/proto",
  "application/json",
];

test.each(columnsOf(TYPES, 1, 2))(
  "%s: while a response waits for its client, what the handler returned and received is free [TRANS-4]",
  async (type) => {
    const messages: WeakRef<object>[] = [];
    const { port, close } = await startWebServer({
      maxBytes: 4 * MIB,
      handlers: {
        echo: async (request) => {
          const response = create(EchoResponseSchema, { text: "x".repeat(100_000) });
          messages.push(new WeakRef(request), new WeakRef(response));
          return response;
        },
      },
    });
    opened.push(close);
    await callAll(port, type);
    await expect
      .poll(() => messages.length, { message: "all messages are made and received" })
      .toBe(2 * CALLS);
    const left = () => {
      collectGarbage();
      return messages.filter((message) => message.deref() !== undefined).length;
    };
    await expect.poll(left, { message: "all messages are collected as garbage" }).toBe(0);
  },
);

/** Sends the calls of a type in one write, without a window for their responses. */
async function callAll(port: number, type: string): Promise<RawHttp2> {
  const client = new RawHttp2(port);
  opened.push(() => client.socket.destroy());
  const headers = headerBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/fixture.v1.EchoService/Echo"],
    [":authority", "x"],
    ["content-type", type],
    ["te", "trailers"],
    // Otherwise JSON is a body of HTTP's routes.
    ...(type === "application/json" ? ([["connect-protocol-version", "1"]] as const) : []),
  ]);
  const body = BODIES[type] ?? frame(new Uint8Array());
  const requests = Array.from({ length: CALLS }, (_, index) => [
    rawFrame(FRAME.HEADERS, END_HEADERS, 2 * index + 1, headers),
    rawFrame(FRAME.DATA, END_STREAM, 2 * index + 1, body),
  ]);
  const noWindow = Buffer.concat([Buffer.of(0, INITIAL_WINDOW_SIZE), uint32(0)]);
  await client.send(rawFrame(FRAME.SETTINGS, 0, 0, noWindow), ...requests.flat());
  return client;
}
