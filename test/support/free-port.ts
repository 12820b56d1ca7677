import { createServer } from "node:net";

/** Below those that systems give to outgoing connections: one of these could take a port while its server is stopped. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A port that nobody uses, for a server that is stopped and started on it. */
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
