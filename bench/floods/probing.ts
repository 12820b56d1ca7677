import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 200;
const TIMEOUT_MS = 10_000;

/** The results of probes. */
export interface Probed {
  readonly failed: number;
  readonly longestSeconds: number;
}

/** Probes again and again, on a new connection each time, until it is called, and returns the results. */
export function probing(port: number, path: string): () => Promise<Probed> {
  let [failed, longest, isOver] = [0, 0, false];
  const work = (async () => {
    while (!isOver) {
      const begin = performance.now();
      if (!(await isAnswered(port, path))) failed++;
      longest = Math.max(longest, performance.now() - begin);
      await sleep(EVERY_MS);
    }
  })();
  return async () => {
    isOver = true;
    await work;
    return { failed, longestSeconds: longest / 1000 };
  };
}

function isAnswered(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, path, host: "127.0.0.1", agent: false, timeout: TIMEOUT_MS };
    const outgoing = request(options, (response) => {
      response.resume().on("close", () => resolve(response.statusCode === 200));
    });
    outgoing
      .on("timeout", () => outgoing.destroy())
      .on("error", () => resolve(false))
      .end();
  });
}
