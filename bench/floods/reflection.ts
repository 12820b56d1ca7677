/** Flood 4: few questions of reflection, many answers. */
import { connect } from "node:http2";
import type { Finding, Flood } from "./finding.ts";
import { Target } from "./target.ts";

/** What was asked: 328 KiB. */
const QUERIES = 10_000;
/** The largest file that each service has. */
const FILE = "google/protobuf/descriptor.proto";
const ANSWERED_MEGABYTES = 16;
const MEGABYTES = 150;

/** Asks for the same file again and again, in one call for each of the times. */
export const reflection: Flood = async (times) => {
  const target = await Target.start();
  try {
    const session = connect(`http://127.0.0.1:${target.grpc}`);
    session.on("error", () => undefined);
    const answered = await Promise.all(Array.from({ length: times }, () => converse(session)));
    session.destroy();
    const asked = (times * QUERIES * query().length) / 1024;
    console.log(`  asked ${asked.toFixed(0)} KiB in ${times} calls`);
    const findings: Finding[] = [
      {
        what: "answered to a call",
        measured: Math.max(...answered) / 1024 / 1024,
        most: ANSWERED_MEGABYTES,
        unit: "MiB",
      },
      { what: "memory", measured: target.megabytes, most: MEGABYTES, unit: "MiB" },
    ];
    return findings;
  } finally {
    await target.stop();
  }
};

/** The received bytes. */
function converse(session: ReturnType<typeof connect>): Promise<number> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "content-type": "application/grpc",
      te: "trailers",
    });
    let bytes = 0;
    stream.on("data", (data: Buffer) => {
      bytes += data.length;
    });
    stream.on("error", () => undefined).on("close", () => resolve(bytes));
    stream.end(Buffer.concat(Array.from({ length: QUERIES }, query)));
  });
}

/** `file_by_filename`, after the prefix of a message. */
function query(): Buffer {
  const name = Buffer.from(FILE);
  const message = Buffer.concat([Buffer.of(0x1a, name.length), name]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
