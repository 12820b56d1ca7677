/** What the requests of HTTP hold of the memory that there is for messages, which all transports share. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  budgetOf,
  MessageAccount,
  requestBudget,
} from "../../../../src/runtime/wire/message-budget.ts";
import { openChain } from "../../support/open-chain.ts";
import { httpRoute, rawMethod, start, stopAll, thingMethod } from "../support.ts";

const KIB = 1024;
const PATHS = ["/v1/things", "/hook"];

afterEach(stopAll);

/** Something that happens once. */
function signal<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value: T) => resolve(value) };
}

/** A server whose handlers wait until the test lets them continue. */
async function startWaiting(processBytes: number, chain: Parameters<typeof openChain>[0] = {}) {
  const budget = budgetOf(processBytes);
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let handled = 0;
  const wait = async (): Promise<void> => {
    handled++;
    await opened;
  };
  const route = httpRoute("POST /v1/things", { body: "*" });
  const rpc = thingMethod("getThing", [route], async () => (await wait(), {}));
  const hook = rawMethod(
    { path: "/hook", match: "exact", methods: ["POST"], exposure: "PUBLIC" },
    async (request) => {
      await request.body();
      await wait();
      return { status: 200 };
    },
  );
  const { origin, port } = await start({
    methods: [rpc],
    rawMethods: [hook],
    budget,
    chain: openChain(chain),
  });
  const body = (bytes: number) => `{"name":"${"x".repeat(bytes)}"}`;
  const post = (path: string, bytes: number) =>
    fetch(origin + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body(bytes),
    });
  return { budget, open, port, post, body, handled: () => handled };
}

test.each(PATHS)(
  "%s: a body larger than the free memory is refused, and accepted later",
  async (path) => {
    const bytes = 50 * KIB;
    const { budget, open, post, handled } = await startWaiting(128 * KIB);
    const first = [post(path, bytes), post(path, bytes)];
    await expect.poll(handled, { message: "the handler is called a second time" }).toBe(2);
    const refused = await post(path, bytes);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(budget.process.taken).toBeGreaterThanOrEqual(2 * bytes);
    open();
    for (const each of await Promise.all(first)) expect(each.status).toBe(200);
    await expect
      .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
      .toBe(0);
    expect((await post(path, bytes)).status).toBe(200);
    await expect
      .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
      .toBe(0);
  },
);

test.each(PATHS)("%s: the memory of a caller that disconnects is released", async (path) => {
  const { budget, open, port, body, handled } = await startWaiting(1024 * KIB);
  const text = body(30 * KIB);
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  await expect.poll(handled, { message: "the handler is called" }).toBe(1);
  expect(budget.process.taken).toBeGreaterThan(0);
  socket.destroy();
  await expect
    .poll(() => budget.process.taken, { message: "the memory of the request is released" })
    .toBe(0);
  open();
});

test("a small body and one that is too large hold no memory in the end", async () => {
  const { budget, open, post } = await startWaiting(1024 * KIB);
  open();
  expect((await post("/v1/things", 0)).status).toBe(200);
  const large = await post("/v1/things", 65 * KIB);
  expect(large.status).toBe(413);
  await expect
    .poll(() => budget.process.taken, { message: "the memory of the requests is released" })
    .toBe(0);
});

test.each(PATHS)("%s: a body that ends after the deadline holds no memory", async (path) => {
  const { budget, port } = await startWaiting(1024 * KIB, { timeoutMs: { unary: 50, stream: 50 } });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const text = `{"name":"${"x".repeat(30 * KIB)}"}`;
  socket.write(`${head}${text.length.toString(16)}\r\n${text}\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toContain(" 504 ");
  expect(budget.process.taken).toBe(0);
  socket.write("0\r\n\r\n");
  await once(socket, "close");
  expect(budget.process.taken).toBe(0);
});

test("body() of a handler whose caller has cancelled by then is rejected", async () => {
  const gone = signal();
  const reported = signal<unknown>();
  const hook = rawMethod(
    { path: "/hook", match: "exact", methods: ["POST"], exposure: "PUBLIC" },
    async (request) => {
      request.response.once("close", () => gone.resolve(undefined));
      begun.resolve(undefined);
      await gone.promise;
      await request.body().catch(reported.resolve);
      return { status: 200 };
    },
  );
  const begun = signal();
  const { port } = await start({ rawMethods: [hook] });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nxyz");
  await begun.promise;
  socket.destroy();
  expect(await reported.promise).toMatchObject({ code: "CANCELLED" });
});

test("there is memory for four of the largest messages, and for two on one connection", () => {
  const MIB = 1024 * KIB;
  expect(requestBudget(12 * MIB).connectionBytes).toBe(64 * MIB);
  const { process, connectionBytes } = requestBudget(1000 * MIB);
  expect(connectionBytes).toBe(2000 * MIB);
  const account = new MessageAccount(process);
  account.take(4000 * MIB);
  const other = new MessageAccount(process);
  expect(() => other.take(16 * KIB)).toThrow("use all the memory");
  account.close();
});
