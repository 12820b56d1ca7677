/** How logs, metrics and traces see what raw handlers answer themselves. */
import { connect } from "node:http2";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DatabaseError } from "../../../../src/database/database-error.ts";
import type { RawHandler } from "../../../../src/runtime/http/raw/raw-handler.ts";
import { readRouteDocument, ServiceError, serveNode } from "../../../../src/runtime/index.ts";
import { FIXTURE, type RunningVault, startVault } from "../../support/vault-server.ts";

type Handle = RawHandler["handle"];
let handle: Handle = () => ({ status: 200 });
let vault: RunningVault;

beforeAll(async () => {
  const document = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
  const path = { path: "/v1/lib", match: "prefix", methods: ["*"], exposure: "PUBLIC" };
  vault = await startVault({
    rawHandlers: [{ path: "/v1/lib", handle: (request, context) => handle(request, context) }],
    routes: { ...document, paths: [path] } as never,
  });
});
afterAll(() => vault.stop());
beforeEach(() => {
  vault.lines.length = 0;
});

const url = () => `http://127.0.0.1:${vault.http}/v1/lib`;

/** The line of the only call. */
async function lineOf(answer: Handle, init: RequestInit = {}): Promise<Record<string, unknown>> {
  handle = answer;
  await (await fetch(url(), { redirect: "manual", ...init })).arrayBuffer();
  return callLine();
}

async function callLine(): Promise<Record<string, unknown>> {
  const calls = () =>
    vault.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ message }) => message === "call");
  await expect.poll(calls, { message: "the call is in the log" }).toHaveLength(1);
  return calls()[0] as Record<string, unknown>;
}

async function counted(code: string): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  const series = `rpc_server_requests_total{rpc="/v1/lib",transport="http",code="${code}"} `;
  const line = metrics.split("\n").find((one) => one.startsWith(series)) ?? "";
  return Number(line.slice(series.length));
}

/** The same answer, returned and written. */
function written(status: number): Handle {
  return (request, context) =>
    serveNode(request, context, (_, response) => response.writeHead(status).end());
}

const CODES: readonly (readonly [number, string, string])[] = [
  [200, "OK", "info"],
  [303, "OK", "info"],
  [400, "INVALID_ARGUMENT", "info"],
  [401, "UNAUTHORIZED", "info"],
  [403, "FORBIDDEN", "info"],
  [404, "RESOURCE_NOT_FOUND", "info"],
  [405, "METHOD_NOT_ALLOWED", "info"],
  [409, "ALREADY_EXISTS", "info"],
  [413, "PAYLOAD_TOO_LARGE", "info"],
  [418, "INVALID_ARGUMENT", "info"],
  [429, "RATE_LIMITED", "info"],
  [500, "INTERNAL", "error"],
  [501, "UNIMPLEMENTED", "warn"],
  [502, "INTERNAL", "error"],
  [503, "UNAVAILABLE", "warn"],
  [504, "DEADLINE_EXCEEDED", "warn"],
];

describe("the code and the level of a call follow its status", () => {
  test.each(CODES)("%i is %s, at %s", async (status, code, level) => {
    for (const answer of [() => ({ status }), written(status)]) {
      vault.lines.length = 0;
      const before = await counted(code);
      const line = await lineOf(answer);
      expect(line).toMatchObject({ level, code, status });
      expect(await counted(code)).toBe(before + 1);
      if (status < 500) expect(line).not.toHaveProperty("error");
      else expect(line["error"]).toEqual({ message: expect.stringContaining(String(status)) });
    }
  });
});

describe("the cause that a handler names", () => {
  const named = (cause: unknown, status: number): Handle => {
    return (request) => {
      request.nameCause(cause);
      return { status, headers: { location: "/" } };
    };
  };

  test("of an outage is in the line, without the place in the code", async () => {
    const down = new DatabaseError("UNAVAILABLE", "the database does not answer");
    const line = await lineOf(named(down, 503));
    expect(line).toMatchObject({ level: "warn", code: "UNAVAILABLE" });
    expect(line["error"]).toMatchObject({ message: "the database does not answer" });
    expect(line["error"]).not.toHaveProperty("stack");
  });

  test("is that of a ServiceError, or the error itself", async () => {
    const cause = new Error("the queue is full");
    const line = await lineOf(named(new ServiceError("UNAVAILABLE", "busy", { cause }), 503));
    expect(line["error"]).toMatchObject({ message: "the queue is full" });
    vault.lines.length = 0;
    const alone = await lineOf(named(new ServiceError("UNAVAILABLE", "busy"), 503));
    expect(alone).toMatchObject({ level: "warn", error: { message: "busy" } });
  });

  test("of a defect has the place in the code", async () => {
    const line = await lineOf(named(new Error("a defect"), 500));
    expect(line).toMatchObject({ level: "error", code: "INTERNAL" });
    expect(line["error"]).toMatchObject({
      message: "a defect",
      stack: expect.stringContaining("raw-answers"),
    });
  });

  test("is in the line of a redirect, which is not an error of HTTP", async () => {
    const line = await lineOf(named(new Error("a defect"), 303));
    expect(line).toMatchObject({ level: "error", code: "OK", error: { message: "a defect" } });
    vault.lines.length = 0;
    const outage = await lineOf(named(new DatabaseError("UNAVAILABLE", "no database"), 303));
    expect(outage).toMatchObject({ level: "warn", code: "OK", error: { message: "no database" } });
  });

  test("is not sent", async () => {
    handle = named(new Error("a secret place"), 500);
    const response = await fetch(url());
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain("secret");
  });

  test("does not replace what the handler throws", async () => {
    const line = await lineOf((request) => {
      request.nameCause(new Error("before"));
      throw new Error("after");
    });
    expect(line).toMatchObject({ code: "INTERNAL", error: { message: "after" } });
  });
});

const BODY = "é".repeat(1000);
const BYTES = Buffer.byteLength(BODY);

describe("the bytes of a response are counted", () => {
  const answers: readonly (readonly [string, Handle])[] = [
    ["returned", () => ({ status: 200, body: BODY })],
    ["ended", (request, context) => serveNode(request, context, (_, to) => to.end(BODY))],
    [
      "written in parts",
      (request, context) =>
        serveNode(request, context, (_, to) => {
          to.write(BODY.slice(0, 300));
          to.write(Buffer.from(BODY.slice(300, 600)));
          to.end(BODY.slice(600), "utf8", () => undefined);
        }),
    ],
    [
      "piped",
      (request, context) =>
        serveNode(request, context, (_, to) => pipeline(Readable.from([BODY, ""]), to)),
    ],
    [
      "in another encoding",
      (request, context) =>
        serveNode(request, context, (_, to) =>
          to.end(Buffer.from(BODY).toString("base64"), "base64"),
        ),
    ],
  ];

  test.each(answers)("over HTTP/1: %s", async (_, answer) => {
    expect(await lineOf(answer)).toMatchObject({ code: "OK", response_bytes: BYTES });
  });

  test.each(answers)("over HTTP/2: %s", async (_, answer) => {
    handle = answer;
    const session = connect(`http://127.0.0.1:${vault.http}`);
    expect(await text(session.request({ ":path": "/v1/lib" }))).toBe(BODY);
    session.close();
    expect(await callLine()).toMatchObject({ code: "OK", response_bytes: BYTES });
  });

  test("of a handler that returns while a library still writes, once all is written", async () => {
    let goOn: () => void = () => undefined;
    const returned = new Promise<void>((resolve) => (goOn = resolve));
    handle = ({ response }) => {
      response.write(BODY.slice(0, 300));
      void returned.then(() => response.end(BODY.slice(300)));
    };
    const response = await fetch(url());
    goOn();
    expect(await response.text()).toBe(BODY);
    expect(await callLine()).toMatchObject({ code: "OK", response_bytes: BYTES });
  });

  test("of a response whose client leaves", async () => {
    handle = ({ response }) => void response.write(BODY);
    const leave = new AbortController();
    await fetch(url(), { signal: leave.signal });
    leave.abort();
    expect(await callLine()).toMatchObject({ code: "OK", response_bytes: BYTES });
  });

  test.each<[string, number, string]>([
    ["a response to HEAD", 200, "HEAD"],
    ["a response with the status 204", 204, "GET"],
    ["a response with the status 304", 304, "GET"],
  ])("%s has none", async (_, status, method) => {
    const answers: readonly Handle[] = [
      () => ({ status, body: BODY }),
      (request, context) => serveNode(request, context, (_, to) => to.writeHead(status).end(BODY)),
    ];
    for (const answer of answers) {
      vault.lines.length = 0;
      expect(await lineOf(answer, { method })).toMatchObject({ status, response_bytes: 0 });
    }
  });

  test("of an error that replaces the response of the handler", async () => {
    const line = await lineOf((request) => {
      request.response.setHeader("x-a", "b");
      throw new ServiceError("FORBIDDEN");
    });
    expect(line["response_bytes"]).toBeGreaterThan(20);
  });
});
