/**
 * Idle connections in a separate process: `node idle-clients.ts HTTP GRPC COUNT`
 * opens COUNT to each port. Over HTTP each makes one call first; over HTTP/2 each exchanges settings.
 */
import { connect } from "node:net";

const [http = 0, grpc = 0, count = 0] = process.argv.slice(2).map(Number);
const AT_ONCE = 100;
const REQUEST = "GET /v1/notices/n HTTP/1.1\r\nHost: vault\r\n\r\n";
/** The preface, empty settings, and the acknowledgement of the server's settings. */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]),
]);

let lost = 0;

function open(port: number, first: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(first));
    socket.once("data", () => resolve());
    socket.on("data", () => undefined);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      lost++;
      resolve();
    });
  });
}

for (let opened = 0; opened < count; opened += AT_ONCE) {
  const batch = Array.from({ length: Math.min(AT_ONCE, count - opened) }, () => [
    open(http, REQUEST),
    open(grpc, PREFACE),
  ]);
  await Promise.all(batch.flat());
}
process.on("message", () => process.send?.({ lost }));
process.send?.({ lost });
