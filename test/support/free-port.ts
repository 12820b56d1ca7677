import { createServer } from "node:net";

/** Below the ephemeral ports: an outgoing connection could take one of these while its server is stopped. */
const FIRST = 20_000;
const COUNT = 12_000;
/** Each worker of a run has ports of its own: none takes that of a server which another has stopped. */
const WORKERS = 16;
const WORKER = Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS;

const SLOTS = COUNT / WORKERS;

/** In turn: drawn at random, one of seven ports that nobody listens at yet is often another of them. */
let slot = Math.floor(Math.random() * SLOTS);

/** A free port, for a server that stops and starts again. No other call returns it for a long time. */
export async function freePort(): Promise<number> {
  for (;;) {
    slot = (slot + 1) % SLOTS;
    const port = FIRST + WORKERS * slot + WORKER;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
