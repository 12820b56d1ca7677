import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { untilReady } from "../../scripts/start/until-ready.ts";

/** A service whose `/readyz` answers by a function of the count of requests. */
async function startService(answer: (count: number, response: ServerResponse) => void) {
  let count = 0;
  const server = createServer((_, response) => answer(++count, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a service that does not answer once is asked again", async () => {
  const asked: number[] = [];
  const origin = await startService((count, response) => {
    asked.push(count);
    if (count > 1) response.end();
  });
  await untilReady("iam", origin, new AbortController().signal);
  expect(asked).toEqual([1, 2]);
});

test("an end in the middle of an answer ends the wait", async () => {
  const controller = new AbortController();
  const origin = await startService(() => controller.abort(new Error("SIGINT")));
  await expect(untilReady("iam", origin, controller.signal)).rejects.toThrow("SIGINT");
});
