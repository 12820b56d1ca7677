/** A port that another process takes after `npm start` has checked it: it gets no secret, and the start fails. */
import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { PlatformCheckout } from "./support/platform-checkout.ts";

let checkout: PlatformCheckout;

beforeAll(async () => {
  checkout = await PlatformCheckout.create();
});
afterAll(() => checkout?.remove());

/** Answers everything as a service that is ready does. @returns the requests that it gets */
async function takePort(port: number): Promise<string[]> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader("content-type", "application/json").end("{}");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return requests;
}

test.each([
  ["IAM_HTTP_PORT", "HTTP of svc-iam"],
  ["GIT_GRPC_PORT", "gRPC of the Git service"],
  ["HUB_HTTP_PORT", "HTTP of the hub"],
])("%s that is taken while the hub is compiled [START-6]", async (variable, what) => {
  const port = Number(checkout.environment[variable]);
  const run = checkout.start();
  // All ports were free until now.
  await run.printed("$ npx buf lint\n");
  const requests = await takePort(port);
  expect(await run.ended()).toBe(2);
  expect(requests).toEqual([]);
  expect(run.errors).toBe(
    `npm start: port ${port}, for ${what}, is taken: choose another with ${variable}=… npm start\n`,
  );
  await until(
    () => `nothing runs: ${[...checkout.processes().values()].join("\n")}`,
    () => checkout.processes().size === 0,
  );
});
