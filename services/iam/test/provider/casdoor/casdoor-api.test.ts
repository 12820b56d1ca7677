import type { IncomingMessage, ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { CasdoorApi, type CasdoorApiOptions } from "../../../src/provider/casdoor/casdoor-api.ts";
import {
  APPLICATION,
  type StandInCasdoor,
  startCasdoor,
} from "../../support/casdoor/stand-in-casdoor.ts";

let casdoor: StandInCasdoor;
beforeAll(async () => {
  casdoor = await startCasdoor();
});
afterAll(() => casdoor.close());
afterEach(() => {
  casdoor.intercept = undefined;
  casdoor.requests.length = 0;
});

const { signal } = new AbortController();
const ANY = z.unknown();

function connect(more: Partial<CasdoorApiOptions> = {}) {
  const logger = { error: vi.fn() };
  const { clientId, clientSecret } = APPLICATION;
  const pause = async () => undefined;
  const base = { endpoint: casdoor.origin, clientId, clientSecret, logger, pause };
  return { api: new CasdoorApi({ ...base, ...more }), logger };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const send =
  (status: number, body: string, type = "application/json"): Answer =>
  (_, response) => {
    response.writeHead(status, { "Content-Type": type, Location: "http://127.0.0.1:1/" });
    response.end(body);
  };
const ok = (data: unknown) => JSON.stringify({ status: "ok", msg: "", data, data2: null });

/** What the log may not contain. */
const PERSON = "jane@x.io";

/** What is not a response of the API, and how often it is asked for. */
const BAD: readonly [string, Answer, number][] = [
  ["a page", send(200, "<html>", "text/html"), 1],
  ["JSON as text", send(200, ok([]), "text/plain"), 1],
  ["JSON without a type", (_, response) => void response.end(ok([])), 1],
  ["no JSON", send(200, "oops"), 1],
  ["half of a JSON", send(200, ok([]).slice(0, 10)), 1],
  ["no JSON, with an e-mail address", send(200, PERSON), 1],
  ["an empty body", send(200, ""), 1],
  ["nested JSON", send(200, `{"status":"ok","data":${"[".repeat(100_000)}`), 1],
  ["a bare list", send(200, "[]"), 1],
  ["null", send(200, "null"), 1],
  ["another status in the body", send(200, JSON.stringify({ status: "OK", data: [] })), 1],
  ["an error", send(200, JSON.stringify({ status: "error", msg: "Unauthorized operation" })), 1],
  [
    "an error of a megabyte",
    send(200, JSON.stringify({ status: "error", msg: "x".repeat(1e6) })),
    1,
  ],
  ["401", send(401, ok([])), 1],
  ["403", send(403, ok([])), 1],
  ["404", send(404, ok([])), 1],
  ["a redirect, which is not followed", send(302, ""), 1],
  ["429", send(429, ""), 2],
  ["500", send(500, "panic"), 2],
  ["503", send(503, ok([])), 2],
  ["more than 8 MiB", send(200, ok("x".repeat(9 * 2 ** 20))), 1],
  ["a broken connection", (request) => void request.socket.destroy(), 2],
  [
    "a body that breaks off",
    (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
      response.write("{", () => response.destroy());
    },
    2,
  ],
];

test.each(BAD)(
  "a read that is answered with %s is UNAVAILABLE [IDP-17]",
  async (_, answer, times) => {
    casdoor.intercept = (request, response) => {
      answer(request, response);
      return true;
    };
    const { api, logger } = connect();
    const failed = await api.read("get-users", {}, ANY, signal).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: "UNAVAILABLE",
      message: "the identity provider does not answer",
    });
    expect(casdoor.requests).toHaveLength(times);
    expect(logger.error).toHaveBeenCalledOnce();
    const logged = inspect(logger.error.mock.calls, { depth: 9 });
    expect(logged).not.toContain(APPLICATION.clientSecret);
    expect(logged).not.toContain(PERSON);
    expect(logged.length).toBeLessThan(20_000);
  },
);

test.each(BAD)("a write that is answered with %s is not repeated", async (_, answer) => {
  casdoor.intercept = (request, response) => {
    answer(request, response);
    return true;
  };
  const { api } = connect();
  await expect(api.write("delete-token", {}, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(casdoor.requests).toHaveLength(1);
});

test("a Casdoor that never answers is given up", async () => {
  let sent = 0;
  const { api } = connect({
    timeoutMs: 20,
    // On a busy machine, a request may be given up before it reaches a server.
    fetch: (_, init) => {
      sent += 1;
      return new Promise((_, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    },
  });
  await expect(api.read("get-users", {}, ANY, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(sent).toBe(2);
});

test("a call that is cancelled ends its request, and is not repeated", async () => {
  const cancel = new AbortController();
  const closed = new Promise<void>((resolve) => {
    casdoor.intercept = (_, response) => {
      response.on("close", resolve);
      cancel.abort(new Error("the caller left"));
      return true;
    };
  });
  const { api, logger } = connect();
  await expect(api.read("get-users", {}, ANY, cancel.signal)).rejects.toThrow("the caller left");
  await closed;
  expect(casdoor.requests).toHaveLength(1);
  expect(logger.error).not.toHaveBeenCalled();
});

test("eight requests run at once, and those beyond 256 more are refused", async () => {
  let [running, most] = [0, 0];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { api } = connect({
    fetch: async () => {
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
      return new Response(ok([]), { headers: { "Content-Type": "application/json" } });
    },
  });
  const reads = Array.from({ length: 265 }, () =>
    api.read("get-users", {}, ANY, signal).then(
      () => "ok",
      (error: { message: string }) => error.message,
    ),
  );
  expect(await reads.at(-1)).toBe("too many requests wait for the identity provider");
  expect(running).toBe(8);
  release();
  const results = await Promise.all(reads);
  expect(results.filter((one) => one === "ok")).toHaveLength(264);
  expect(most).toBe(8);
});

test("data of another form is named in the log, and not passed on", async () => {
  casdoor.intercept = (request, response) => {
    send(200, ok([{ id: 7 }]))(request, response);
    return true;
  };
  const { api, logger } = connect();
  const schema = z.array(z.object({ id: z.string() }));
  await expect(api.read("get-users", {}, schema, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(inspect(logger.error.mock.calls, { depth: 3 })).toContain("data.0.id");
});

test("a read that failed in passing is repeated", async () => {
  let count = 0;
  casdoor.intercept = (request, response) => {
    count += 1;
    send(count === 1 ? 502 : 200, ok(["x"]))(request, response);
    return true;
  };
  const { api } = connect();
  expect(await api.read("get-users", {}, ANY, signal)).toMatchObject({ data: ["x"] });
});

test("requests carry the client by HTTP Basic, and its secret in no URL", async () => {
  const urls: string[] = [];
  casdoor.intercept = ({ url = "" }) => {
    urls.push(url);
    return false;
  };
  const { api } = connect({ endpoint: `${casdoor.origin}/` });
  const { data } = await api.read(
    "get-users",
    { owner: "a&b", p: "1", pageSize: "1" },
    ANY,
    signal,
  );
  expect(data).toEqual([]);
  expect(urls).toEqual(["/api/get-users?owner=a%26b&p=1&pageSize=1"]);
  const wrong = connect({ clientSecret: "wrong" });
  await expect(wrong.api.read("get-users", {}, ANY, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect(inspect(wrong.logger.error.mock.calls, { depth: 9 })).toContain("Unauthorized operation");
});
