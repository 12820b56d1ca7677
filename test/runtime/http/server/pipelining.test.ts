import { connect } from "node:net";
import { afterAll, expect, test, vi } from "vitest";
import type { Thing } from "../fixture/thing_pb.ts";
import {
  get,
  httpRoute,
  readAll,
  sendRaw,
  start,
  statusOf,
  stopAll,
  thingMethod,
} from "../support.ts";

afterAll(stopAll);

test("a limited number of requests is served at once, and the connection closes after them", async () => {
  let begun = 0;
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const handler = async () => {
    begun++;
    await held;
    return {};
  };
  const methods = [thingMethod("getThing", [httpRoute("GET /v1/things/{name}")], handler)];
  const { port } = await start({ methods, limits: { maxPipelined: 5 } });
  const socket = connect(port, "127.0.0.1");
  socket.write(get("/v1/things/a").repeat(50));
  const answer = readAll(socket, 2000);
  await vi.waitFor(() => expect(begun).toBe(5));
  letGo();
  const responses = (await answer).split(/(?=HTTP\/1\.1 )/);
  expect(responses.map(statusOf)).toEqual([200, 200, 200, 200, 200]);
  expect(responses.map((response) => /^connection: close/im.test(response))).toEqual([
    ...[false, false, false, false],
    true,
  ]);
  expect(begun).toBe(5);
});

test("requests are answered in their order", async () => {
  const served: string[] = [];
  const handler = async ({ name }: Thing) => {
    served.push(name);
    return {};
  };
  const methods = [thingMethod("getThing", [httpRoute("GET /v1/things/{name}")], handler)];
  const { port } = await start({ methods });
  const all = await sendRaw(port, get("/v1/things/a") + get("/nope") + get("/v1/things/b"));
  const statuses = [...all.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(["200", "404", "200"]);
  expect(served).toEqual(["a", "b"]);
});
