/** Handlers in the style of Node, behind the chain. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:http2";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { type NodeCallback, nodeHandler } from "../../../../src/runtime/http/raw/node-handler.ts";
import { readRouteDocument } from "../../../../src/runtime/index.ts";
import { FIXTURE, type RunningVault, startVault } from "../../support/vault-server.ts";
import { rawMethod, start, stopAll } from "../support.ts";

const running: RunningVault[] = [];
afterEach(async () => {
  await stopAll();
  for (const vault of running.splice(0)) await vault.stop();
});

const BELOW = { path: "/v1/lib", match: "prefix", methods: ["*"], exposure: "PUBLIC" } as const;

/** A server with a library that is mounted at /v1/lib. */
async function mounted(handle: NodeCallback, of: object = {}) {
  const handler = nodeHandler({ path: "/v1/lib", mount: "/v1/lib", handle });
  return start({ rawMethods: [rawMethod(BELOW, handler.handle)], ...of });
}

interface Seen {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What a library sees, as its response. */
const echo = async (request: IncomingMessage, response: ServerResponse) => {
  const { method, url, headers, rawHeaders, headersDistinct } = request;
  const { originalUrl } = request as IncomingMessage & { originalUrl: string };
  const body = await text(request);
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ method, url, originalUrl, headers, rawHeaders, headersDistinct, body }),
  );
};

test.each([
  ["/v1/other", "another path"],
  ["/v1/li", "a part of a segment"],
  ["/v1/lib/", "a slash at the end"],
  ["v1", "no slash at the begin"],
  ["/v1/lib/below", "more than the path"],
])("%s is refused: %s", (mount) => {
  expect(() => nodeHandler({ path: "/v1/lib", mount, handle: echo })).toThrow(TypeError);
});

test.each([
  ["/v1/lib", "/"],
  ["/v1/lib?a=b", "/?a=b"],
  ["/v1/lib/a/b?c=%20&d=?", "/a/b?c=%20&d=?"],
  ["/v1/lib/a%2Fb", "/a%2Fb"],
])("of %s the library sees %s", async (path, url) => {
  const { origin } = await mounted(echo);
  const seen = await (await fetch(`${origin}${path}`)).json();
  expect(seen).toMatchObject({ url, originalUrl: path, method: "GET", body: "" });
});

test("without a mount it sees the whole path", async () => {
  const { handle } = nodeHandler({ path: "/v1/lib", handle: echo });
  const { origin } = await start({ rawMethods: [rawMethod(BELOW, handle)] });
  expect(await (await fetch(`${origin}/v1/lib/a`)).json()).toMatchObject({ url: "/v1/lib/a" });
});

test.each([
  ["with a length", "grant_type=refresh_token", { "content-length": "24" }],
  [
    "in chunks",
    new ReadableStream({
      start: (to) => {
        to.enqueue(Buffer.from("a=1&"));
        to.enqueue(Buffer.from("b=2"));
        to.close();
      },
    }),
    { "content-length": "7" },
  ],
  ["that is empty", "", { "content-length": "0" }],
])("a body %s is a stream", async (_, body, headers) => {
  const { origin } = await mounted(echo);
  const sent = { method: "POST", body, duplex: "half" } as RequestInit;
  const seen = (await (await fetch(`${origin}/v1/lib`, sent)).json()) as Seen;
  expect(seen.body).toBe(typeof body === "string" ? body : "a=1&b=2");
  expect(seen.headers).toMatchObject(headers);
  expect(seen.headers).not.toHaveProperty("transfer-encoding");
});

test.each([
  ["one that is too large", { body: "a".repeat(70_000) }, 413],
  ["one that is compressed", { body: "a", headers: { "content-encoding": "gzip" } }, 415],
])("of bodies, %s never reaches the library", async (_, init, status) => {
  let calls = 0;
  const { origin } = await mounted(() => void calls++);
  expect((await fetch(`${origin}/v1/lib`, { method: "POST", ...init })).status).toBe(status);
  expect(calls).toBe(0);
});

test("what a caller writes as a proxy does not reach the library", async () => {
  const { origin } = await mounted(echo);
  const headers = {
    forwarded: "for=1.2.3.4;proto=https",
    "x-forwarded-for": "1.2.3.4",
    "x-forwarded-host": "evil.example.com",
    "x-forwarded-port": "1",
    "x-forwarded-prefix": "/evil",
    "x-forwarded-proto": "https",
    "x-real-ip": "1.2.3.4",
  };
  const seen = await (await fetch(`${origin}/v1/lib`, { headers })).json();
  expect(JSON.stringify(seen)).not.toMatch(/1\.2\.3\.4|evil|https/);
});

test("several cookies, a redirect and headers arrive as the library writes them", async () => {
  const { origin } = await mounted((_, response) => {
    response.setHeader("Set-Cookie", ["a=1; Path=/", "b=2; HttpOnly"]);
    response.writeHead(303, { Location: "/elsewhere", "X-Powered-By": "library" });
    response.end();
  });
  const response = await fetch(`${origin}/v1/lib`, { redirect: "manual" });
  expect(response.status).toBe(303);
  expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2; HttpOnly"]);
  expect(response.headers.get("location")).toBe("/elsewhere");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("x-request-id")).toMatch(/./);
});

test("over HTTP/2 it is the same, with a host and without pseudo-headers", async () => {
  const { origin } = await mounted((request, response) => {
    response.setHeader("Set-Cookie", ["a=1", "b=2"]);
    return echo(request, response);
  });
  const session = connect(origin);
  const stream = session.request({ ":method": "POST", ":path": "/v1/lib/a?b=c" });
  stream.end("body");
  const [headers] = (await new Promise<unknown[]>((resolve) =>
    stream.once("response", (...all) => resolve(all)),
  )) as [Record<string, unknown>];
  const seen = JSON.parse(await text(stream));
  session.close();
  expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(seen).toMatchObject({ url: "/a?b=c", method: "POST", body: "body" });
  expect(`http://${seen.headers.host}`).toBe(origin);
  expect(seen.rawHeaders.filter((name: string) => name.startsWith(":"))).toEqual([]);
});

test("a response that is still written when the library returns is waited for", async () => {
  const parts = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(10_000));
  const { origin, faults } = await mounted((_, response) => {
    const body = Readable.from(
      (async function* () {
        for (const part of parts) {
          await sleep(5);
          yield part;
        }
      })(),
    );
    body.pipe(response);
  });
  expect(await (await fetch(`${origin}/v1/lib`)).text()).toBe(parts.join(""));
  expect(faults).toEqual([]);
});

describe("a library that fails", () => {
  test.each<[string, NodeCallback]>([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("secret");
      },
    ],
    [
      "has set headers before",
      (_, response) => {
        response.setHeader("Set-Cookie", "a=1");
        throw new Error("secret");
      },
    ],
  ])("and %s is 500, without its words", async (_, handle) => {
    const { origin } = await mounted(handle);
    const response = await fetch(`${origin}/v1/lib`);
    expect(response.status).toBe(500);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await response.text()).not.toContain("secret");
  });

  test("after its headers is cut off", async () => {
    const { origin } = await mounted(async (_, response) => {
      response.write("half");
      await sleep(20);
      throw new Error("secret");
    });
    await expect(fetch(`${origin}/v1/lib`).then((response) => response.text())).rejects.toThrow();
    expect((await fetch(`${origin}/v1/other`)).status).toBe(404);
  });

  test("and destroys its request keeps the connection of others", async () => {
    const { origin } = await mounted((request, response) => {
      request.destroy();
      response.end("served");
    });
    expect(await (await fetch(`${origin}/v1/lib`, { method: "POST", body: "a" })).text()).toBe(
      "served",
    );
  });
});

const GENERATED = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));

describe("behind the chain of a server", () => {
  const serve = async (handle: NodeCallback, path: object, config: object = {}) => {
    const vault = await startVault({
      config,
      rawHandlers: [nodeHandler({ path: "/v1/lib", mount: "/v1/lib", handle })],
      routes: {
        ...GENERATED,
        paths: [{ path: "/v1/lib", match: "prefix", methods: ["*"], ...path }],
      } as never,
    });
    running.push(vault);
    return { vault, url: `http://127.0.0.1:${vault.http}/v1/lib` };
  };
  const alice = { "x-svc-external-sub": "alice" };

  test("callers without identity are refused, and responses for others are not stored", async () => {
    const { url } = await serve(echo, { exposure: "AUTHENTICATED" });
    expect((await fetch(url)).status).toBe(401);
    const response = await fetch(url, { headers: alice });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { headers } = (await response.json()) as Seen;
    expect(headers["x-forwarded-for"]).toBe("127.0.0.1");
  });

  test("the rate limit counts, and its headers are sent", async () => {
    const { url } = await serve(echo, { exposure: "PUBLIC", rateLimit: { qps: 1, burst: 2 } });
    const first = await fetch(url);
    expect(first.headers.get("ratelimit-limit")).toMatch(/./);
    await fetch(url);
    expect((await fetch(url)).status).toBe(429);
  });

  test("the status is audited", async () => {
    const audit = { event: "lib.call", riskLevel: "LOW" };
    const handle: NodeCallback = (_, response) => void response.writeHead(418).end();
    const { vault, url } = await serve(handle, { exposure: "AUTHENTICATED", audit });
    await fetch(url, { headers: alice });
    await expect
      .poll(async () => (await vault.server.audit?.list({ type: "lib.call" }))?.events, {
        message: "the status is audited",
      })
      .toMatchObject([{ data: { status: 418 } }]);
  });

  test("one that never answers is 504, and may continue without harm", async () => {
    let ended: Promise<unknown> | undefined;
    let goOn = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const handle: NodeCallback = (_, response) => {
      ended = late.then(() => {
        response.write("late");
        response.end();
      });
    };
    const server = { http: { address: "127.0.0.1:0", timeout_ns: 100_000_000 } };
    const { url } = await serve(handle, { exposure: "PUBLIC" }, { server });
    expect((await fetch(url)).status).toBe(504);
    goOn();
    await ended;
    // An error of the response would be thrown by then.
    await new Promise((resolve) => setImmediate(resolve));
  });
});
