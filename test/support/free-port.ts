import { createServer } from "node:net";

/** Below the ephemeral ports: an outgoing connection could take one of these while its server is stopped. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A free port, for a server that stops and starts again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
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
