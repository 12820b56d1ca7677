import { once } from "node:events";
import { connect, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { DEFAULT_CONNECTION_LIMITS } from "../../../src/runtime/http2/connection-limits.ts";
import { Http2Connections } from "../../../src/runtime/http2/http2-connections.ts";
import { requestBudget } from "../../../src/runtime/wire/message-budget.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test("a closed stream does not retain its call in memory, and its errors do not end the process", async () => {
  const ended: string[] = [];
  const streams: ServerHttp2Stream[] = [];
  const connections = new Http2Connections({
    limits: DEFAULT_CONNECTION_LIMITS,
    budget: requestBudget(),
    onStream: ({ stream }) => {
      streams.push(stream);
      for (const name of ["data", "end", "close"]) {
        stream.on(name, () => ended.push(name));
      }
      stream.respond({ ":status": 200 });
      stream.end("answer");
    },
  });
  const server = createServer((socket) => connections.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(() => client.close());
  const request = client.request({ ":method": "POST", ":path": "/" });
  request.resume().end("question");
  await once(request, "close");
  const [stream] = streams as [ServerHttp2Stream];
  await expect.poll(() => ended, { message: "the stream is closed" }).toContain("close");
  expect(ended).toEqual(expect.arrayContaining(["data", "end", "close"]));
  expect(stream.eventNames()).toEqual(["error"]);
  stream.emit("error", new Error("too late"));
});
