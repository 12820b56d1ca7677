/** Flood 12: few bytes of requests, each for a large response that the client does not read. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Finding, Flood } from "./finding.ts";
import { probing } from "./probing.ts";
import { RawHttp2 } from "./raw-http2.ts";
import { LARGE_NOTICE, Target } from "./target.ts";

const PATH = "/acme.vault.v1.VaultService/GetNotice";
const STREAMS = 400;
const STREAMS_OF_CONNECTION = 400;
const HTTP1_CONNECTIONS = 300;
/** The budgets of messages and of unread responses, and what V8 leaves uncollected. */
const MEGABYTES = 400;
/** Of one that is larger: bounded, however much larger it is. */
const MEGABYTES_AT_MOST = 600;
const STALL_SECONDS = 0.3;
/** Longer than all of them take. */
const MEASURED_MS = 10_000;

/** What closes the connections of a flood. */
type Close = () => void;

/** 400 calls on one connection of HTTP/2, whose window is never enlarged. */
export const largeOverGrpc: Flood = (times) =>
  flood(times, async ({ grpc }) => {
    // The field `notice_id`.
    const message = Buffer.from(`\x0a${String.fromCharCode(LARGE_NOTICE.length)}${LARGE_NOTICE}`);
    const frame = Buffer.alloc(5 + message.length);
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, 5);
    const connections: RawHttp2[] = [];
    for (let opened = 0; opened < times * STREAMS; opened += STREAMS_OF_CONNECTION) {
      const connection = await RawHttp2.connect(grpc);
      connections.push(connection);
      void connection.open(PATH, STREAMS_OF_CONNECTION, frame);
    }
    return () => {
      const reset = connections.reduce((sum, connection) => sum + connection.reset, 0);
      const ended = connections.reduce((sum, connection) => sum + connection.ended, 0);
      console.log(`  ${times * STREAMS} calls, cut off: ${reset}, refused: ${ended}`);
      for (const connection of connections) connection.close();
    };
  });

/** One request on each of 300 connections of HTTP/1.1. */
export const largeOverHttp1: Flood = (times) =>
  flood(times, async ({ http }) => {
    const sockets: Socket[] = [];
    for (let opened = 0; opened < times * HTTP1_CONNECTIONS; opened++) {
      const socket = connect(http, "127.0.0.1");
      socket.on("error", () => undefined);
      sockets.push(socket);
      await once(socket, "connect");
    }
    for (const socket of sockets) {
      socket.write(`GET /v1/notices/${LARGE_NOTICE} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    }
    return () => {
      for (const socket of sockets) socket.destroy();
    };
  });

async function flood(
  times: number,
  begin: (target: Target) => Promise<Close>,
): Promise<readonly Finding[]> {
  const target = await Target.start();
  let close: Close | undefined;
  try {
    const probed = probing(target.http, "/readyz");
    close = await begin(target);
    await sleep(MEASURED_MS * Math.sqrt(times));
    const { longestSeconds, failed } = await probed();
    return [
      {
        what: "memory",
        measured: target.megabytes,
        most: times === 1 ? MEGABYTES : MEGABYTES_AT_MOST,
        unit: "MiB",
      },
      {
        what: "longest probe",
        measured: longestSeconds,
        most: times === 1 ? STALL_SECONDS : 1,
        unit: "s",
      },
      { what: "probes that failed", measured: failed, most: 0, unit: "" },
    ];
  } finally {
    close?.();
    await target.stop();
  }
}
