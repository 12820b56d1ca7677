/** Floods 1 and 2: few compressed bytes that unpack to many. */
import { gzipSync } from "node:zlib";
import type { Finding, Flood } from "./finding.ts";
import { probing } from "./probing.ts";
import { RawHttp2 } from "./raw-http2.ts";
import { Target } from "./target.ts";

const PATH = "/acme.vault.v1.VaultService/GetNotice";
const MIB = 1024 * 1024;
/** Just what a message may have. */
const UNPACKED_BYTES = 4 * MIB - 1024;
const STREAMS = 500;
const STREAMS_OF_CONNECTION = 500;
const STALL_SECONDS = 0.3;
/** As many as the memory for messages has room for: 128 MiB. */
const ANSWERED_AT_MOST = 32;
/** How long it may take until all are answered, in milliseconds. */
const PATIENCE_MS = 120_000;

/** One call, whose message is two million fields that nobody knows. */
export const unknownFields: Flood = (times) =>
  // Field 15, a number: 0.
  flood(times, 1, Buffer.alloc(UNPACKED_BYTES, Buffer.of(0x78, 0)), 100);

/** 500 calls at once, each a message with one long text. */
export const manyLarge: Flood = (times) => {
  const text = Buffer.alloc(UNPACKED_BYTES, 0x61);
  const head = Buffer.of(0x0a, ...varint(text.length - 5));
  return flood(times, STREAMS, Buffer.concat([head, text.subarray(5)]), times === 1 ? 300 : 600);
};

async function flood(
  times: number,
  streams: number,
  message: Buffer,
  megabytes: number,
): Promise<readonly Finding[]> {
  const packed = gzipSync(message);
  const frame = Buffer.alloc(5 + packed.length);
  frame[0] = 1;
  frame.writeUInt32BE(packed.length, 1);
  frame.set(packed, 5);
  const target = await Target.start();
  const connections: RawHttp2[] = [];
  try {
    const probed = probing(target.http, "/readyz");
    const count = times * streams;
    for (let opened = 0; opened < count; opened += STREAMS_OF_CONNECTION) {
      const connection = await RawHttp2.connect(target.grpc);
      connections.push(connection);
      const some = Math.min(STREAMS_OF_CONNECTION, count - opened);
      void connection.open(PATH, some, frame, { "grpc-encoding": "gzip" });
    }
    const begin = performance.now();
    const ended = (): number => connections.reduce((sum, one) => sum + one.ended, 0);
    // Those that are served are answered by as much, which this client never takes: they stay open.
    const most = count - ANSWERED_AT_MOST;
    while (ended() < most && performance.now() - begin < PATIENCE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { longestSeconds, failed } = await probed();
    console.log(`  ${count} calls of ${packed.length} bytes each, answered: ${ended()}`);
    return [
      { what: "memory", measured: target.megabytes, most: megabytes, unit: "MiB" },
      {
        what: "longest probe",
        measured: longestSeconds,
        most: times === 1 ? STALL_SECONDS : 1,
        unit: "s",
      },
      { what: "probes that failed", measured: failed, most: 0, unit: "" },
    ];
  } finally {
    for (const connection of connections) connection.close();
    await target.stop();
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return [...bytes, left];
}
