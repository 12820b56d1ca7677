/** HTTP/2 frames that cost the sender less than the server. */
import { type ClientHttp2Session, constants, type OutgoingHttpHeaders } from "node:http2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { targetOf } from "../access-table/call.ts";
import { frame, rawCall } from "../grpc/support/raw-call.ts";
import { laxSession } from "./support/lax-session.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type HeaderList,
  headerBlock,
  RawHttp2,
  rawFrame,
  uint32,
} from "./support/raw-http2.ts";
import { startWorld, type World } from "./support/world.ts";

const ALICE: OutgoingHttpHeaders = { "x-svc-auth-verified": "true", "x-svc-user-id": "alice" };
const profile = targetOf("AUTHENTICATED");
const REQUEST: HeaderList = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", profile.rpc],
  [":authority", "vault"],
  ["content-type", "application/grpc"],
];
const block = headerBlock(REQUEST);
/** A call of a PUBLIC RPC, so that it waits for its message. */
const OPEN: HeaderList = REQUEST.map(([name, value]) => {
  return [name, name === ":path" ? targetOf("PUBLIC").rpc : value];
});
const message = frame(profile.message);

let world: World;
let good: ClientHttp2Session;
let attacker: RawHttp2;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.handled.length = 0;
});
afterEach(() => {
  good.destroy();
  attacker.end();
});

/** Both the attacker and the well-behaved client. */
function connectTo(port: "grpc" | "http"): void {
  good = laxSession(world.port(port, "trusted"));
  attacker = new RawHttp2(world.port(port, "stranger"));
}

async function expectServed(): Promise<void> {
  const answer = await rawCall(good, profile.rpc, ALICE, frame(profile.message));
  expect(answer.grpcStatus).toBe(0);
}

/** The number of frames after which a flood must be detected: far more than any limit of the server. */
const MANY = 200_000;
const AT_ONCE = 250;

/** Sends the frames of increasing numbers, while the connection is open. */
async function flood(frames: (stream: number) => Uint8Array): Promise<void> {
  for (let sent = 0; sent < MANY && !attacker.isClosed; sent += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, index) => frames(2 * (sent + index) + 3));
    await attacker.send(...some);
  }
}

describe.each(["grpc", "http"] as const)("on the port of %s", (port) => {
  beforeEach(() => connectTo(port));

  describe("40 a flooding client is cut off, and others are served [TRANS-6]", () => {
    const headers = (stream: number) => rawFrame(FRAME.HEADERS, END_HEADERS, stream, block);
    const reset = (stream: number) => rawFrame(FRAME.RST_STREAM, 0, stream, uint32(8));
    const lengthOf1 = headerBlock([...REQUEST, ["content-length", "1"]]);

    test.each<[string, (stream: number) => Uint8Array]>([
      // CVE-2023-44487
      ["40 cancelled calls", (n) => Buffer.concat([headers(n), reset(n)])],
      [
        "40 cancelled calls with their message",
        (n) => Buffer.concat([headers(n), rawFrame(FRAME.DATA, 0, n, message), reset(n)]),
      ],
      // CVE-2025-8671: the client makes the server reset them.
      [
        "40 calls with a window update of 0",
        (n) => Buffer.concat([headers(n), rawFrame(FRAME.WINDOW_UPDATE, 0, n, uint32(0))]),
      ],
      [
        "40 calls with a window that overflows",
        (n) =>
          Buffer.concat([headers(n), rawFrame(FRAME.WINDOW_UPDATE, 0, n, uint32(0x7fff_ffff))]),
      ],
      [
        "40 calls with more data than declared",
        (n) =>
          Buffer.concat([
            rawFrame(FRAME.HEADERS, END_HEADERS, n, lengthOf1),
            rawFrame(FRAME.DATA, 0, n, message),
          ]),
      ],
      [
        "40 calls with data after their end",
        (n) =>
          Buffer.concat([
            rawFrame(FRAME.HEADERS, END_HEADERS | END_STREAM, n, block),
            rawFrame(FRAME.DATA, 0, n, message),
          ]),
      ],
      [
        "40 more concurrent calls than allowed",
        (n) => rawFrame(FRAME.HEADERS, END_HEADERS, n, headerBlock(OPEN)),
      ],
      ["40 empty data", () => rawFrame(FRAME.DATA, 0, 1)],
    ])("%s", async (_title, frames) => {
      await attacker.send(headers(1));
      await flood(frames);
      await attacker.closed;
      await expectServed();
    });

    // CVE-2024-27983 and the like
    test.each<[string, Uint8Array]>([
      ["40 an endless header list of empty frames", new Uint8Array()],
      ["40 an endless header list of large frames", headerBlock([["x-a", "a".repeat(4000)]])],
      ["40 an endless header list of small frames", Buffer.of(0x90)],
    ])("%s", async (_title, more) => {
      await attacker.send(rawFrame(FRAME.HEADERS, 0, 1, block));
      await flood(() => rawFrame(FRAME.CONTINUATION, 0, 1, more));
      await attacker.closed;
      await expectServed();
      expect(world.handled).toHaveLength(1);
    });
  });

  describe("40 cheap floods are tolerated, or end the connection", () => {
    test.each<[string, Uint8Array, number]>([
      ["40 priorities", rawFrame(FRAME.PRIORITY, 0, 3, Buffer.of(0, 0, 0, 0, 16)), 20_000],
      ["40 pings", rawFrame(FRAME.PING, 0, 0, Buffer.alloc(8)), 20_000],
      ["40 unknown frames", rawFrame(77, 0, 0, Buffer.alloc(50)), 20_000],
      ["40 window updates", rawFrame(FRAME.WINDOW_UPDATE, 0, 0, uint32(1)), 20_000],
      ["40 settings", rawFrame(FRAME.SETTINGS, 0, 0), 20_000],
      ["40 settings that change", rawFrame(FRAME.SETTINGS, 0, 0, Buffer.alloc(6 * 20)), 500],
      ["40 GOAWAY frames without an end", rawFrame(FRAME.GOAWAY, 0, 0, Buffer.alloc(1000)), 1_000],
    ])("%s", async (_title, one, count) => {
      for (let sent = 0; sent < count; sent += AT_ONCE) {
        await attacker.send(...new Array<Uint8Array>(AT_ONCE).fill(one));
      }
      await expectServed();
    });

    test("40 a header list that decompresses to 60 MB is refused", async () => {
      // An entry of 4 kB in the dynamic table, and then 15,000 references to it.
      const size = 4000 - 127;
      const entry = Buffer.concat([
        Buffer.from([0x40, 3]),
        Buffer.from("x-a"),
        Buffer.of(127, (size % 128) + 128, size >> 7),
        Buffer.alloc(4000, "a"),
      ]);
      const bomb = Buffer.concat([block, Buffer.alloc(15_000, 0xbe)]);
      const flags = END_HEADERS | END_STREAM;
      const before = world.vault.lines.length;
      await attacker.send(rawFrame(FRAME.HEADERS, flags, 1, Buffer.concat([block, entry])));
      expect(await attacker.outcome(1)).toBe("answered");
      // The line of a call is written after its response.
      await until("the call is logged", () => world.vault.lines.length > before);
      const lines = world.vault.lines.length;
      await attacker.send(rawFrame(FRAME.HEADERS, flags, 3, bomb));
      expect(await attacker.outcome(3)).toBe(`RST ${constants.NGHTTP2_ENHANCE_YOUR_CALM}`);
      await expectServed();
      await until("that call is logged", () => world.vault.lines.length > lines);
      expect(world.vault.lines).toHaveLength(lines + 1);
    });

    test("40 hundreds of unfinished calls end at their deadline", async () => {
      const open = headerBlock([...OPEN, ["grpc-timeout", "100m"]]);
      const streams = Array.from({ length: 900 }, (_, index) => 2 * index + 1);
      const begun = streams.map((stream) => rawFrame(FRAME.HEADERS, END_HEADERS, stream, open));
      await attacker.send(...begun);
      await expectServed();
      for (const stream of streams) expect(await attacker.outcome(stream)).toBe("answered");
    });
  });
});
