/** Errors of declared paths in the form that their handlers render. */
import { connect } from "node:http2";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  nodeHandler,
  type RawHandler,
  readRouteDocument,
  ServiceError,
} from "../../../../src/runtime/index.ts";
import { FIXTURE, type RunningVault, startVault } from "../../support/vault-server.ts";
import { sendRaw, statusOf } from "../support.ts";

const generated = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
const exact = { match: "exact", methods: ["POST"], exposure: "PUBLIC" } as const;
/** Above the paths of RPCs. */
const RPCS = "/acme.vault.v1.VaultService";
const routes = {
  ...generated,
  paths: [
    { ...exact, path: "/form" },
    { ...exact, path: "/teapot" },
    { ...exact, path: "/form/limited", rateLimit: { qps: 1, burst: 1 } },
    { ...exact, path: "/form/closed", exposure: "AUTHENTICATED" as const },
    { ...exact, path: "/form/below", match: "prefix" as const },
    { ...exact, path: "/broken", methods: ["GET"] },
    { ...exact, path: "/library" },
    { ...exact, path: "/plain" },
    { ...exact, path: RPCS, match: "prefix" as const },
  ],
};

const THROWN: Record<string, () => Error> = {
  refused: () => new ServiceError("FORBIDDEN", "not on Sundays"),
  waits: () => new ServiceError("UNAVAILABLE", "later", { retryAfterSeconds: 7 }),
  crash: () => new Error("the password is hunter2"),
};

const handle: RawHandler["handle"] = async (request) => {
  const thrown = THROWN[request.query.get("throw") ?? ""];
  if (thrown !== undefined) throw thrown();
  await request.body();
  return { status: 200 };
};

const crash = () => {
  throw new Error("the password is hunter2");
};

/** A form of its own, with all that it gets. */
const renderError: RawHandler["renderError"] = (
  error,
  { method, path, query, requestId, headers },
) => ({
  ...(error.code === "FORBIDDEN" ? { status: 418 } : {}),
  headers: { "content-type": "text/x-form", "x-own": "1" },
  body: [
    error.code,
    error.message,
    method,
    path,
    [...query].join(),
    requestId,
    headers.all("accept-language").join(),
  ].join("|"),
});

const BROKEN: Record<string, RawHandler["renderError"]> = {
  throws: () => {
    throw new Error("the page has no text");
  },
  declines: () => undefined,
  promises: (async () => {
    throw new Error("nobody waits for this");
  }) as unknown as RawHandler["renderError"],
  status: () => ({ status: 200, body: "" }),
  body: () => ({ body: 7 as unknown as string }),
  header: () => ({ headers: { "x-a": "a\nb", "x-request-id": "other" }, body: "" }),
  untyped: () => ({ body: "<p>a page</p>" }),
  large: () => ({ headers: { "x-a": "a".repeat(20_000) }, body: "" }),
};

let vault: RunningVault;
beforeAll(async () => {
  vault = await startVault({
    routes,
    config: {
      server: {
        http: { address: "127.0.0.1:0", max_body_bytes: 65_536 },
        metrics: { address: "127.0.0.1:0" },
      },
    },
    rawHandlers: [
      ...["/form", "/form/limited", "/form/closed", "/form/below"].map((path) => ({
        path,
        handle,
        renderError,
      })),
      {
        path: "/broken",
        handle: () => {
          throw new ServiceError("FAILED_PRECONDITION", "first things first");
        },
        renderError: (error, request) => BROKEN[request.query.get("by") ?? ""]?.(error, request),
      },
      nodeHandler({ path: "/library", handle: crash, renderError }),
      { path: "/plain", handle },
      { path: "/teapot", handle, renderError: () => ({ status: 418, body: "" }) },
      { path: RPCS, handle, renderError },
    ],
  });
});
afterAll(() => vault.stop());

const url = (target: string) => `http://127.0.0.1:${vault.http}${target}`;

interface Expected {
  readonly status: number;
  readonly code: string;
  readonly message?: RegExp;
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSALS: readonly (readonly [string, string, RequestInit, Expected])[] = [
  [
    "another method",
    "/form?a=b",
    { method: "DELETE" },
    { status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: "POST, OPTIONS" } },
  ],
  [
    "another method with the type of an RPC",
    "/form",
    { method: "PUT", headers: { "content-type": "application/grpc" } },
    { status: 405, code: "METHOD_NOT_ALLOWED" },
  ],
  [
    "a compressed body",
    "/form",
    { headers: { "content-encoding": "gzip" }, body: "a" },
    { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" },
  ],
  [
    "a large body",
    "/form",
    { body: "a".repeat(70_000) },
    { status: 413, code: "PAYLOAD_TOO_LARGE" },
  ],
  [
    "a variant of an identity header",
    "/form",
    { headers: { x_svc_user_id: "alice" } },
    { status: 400, code: "INVALID_ARGUMENT" },
  ],
  ["a path that is malformed", "/form/below/%ff", {}, { status: 400, code: "INVALID_ARGUMENT" }],
  [
    "no caller",
    "/form/closed",
    {},
    { status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } },
  ],
  [
    "an error of the handler, with another status",
    "/form?throw=refused",
    {},
    { status: 418, code: "FORBIDDEN", message: /^not on Sundays$/ },
  ],
  [
    "an error of the handler with a wait",
    "/form?throw=waits",
    {},
    { status: 503, code: "UNAVAILABLE", headers: { "retry-after": "7" } },
  ],
  [
    "a defect of the handler",
    "/form?throw=crash",
    {},
    { status: 500, code: "INTERNAL", message: /^internal error$/ },
  ],
  [
    "a defect of a library",
    "/library",
    {},
    { status: 500, code: "INTERNAL", message: /^internal error$/ },
  ],
];

test.each(REFUSALS)("%s: POST %s", async (_, target, init, expected) => {
  const headers = { "accept-language": "de", ...init.headers };
  const response = await fetch(url(target), { method: "POST", ...init, headers });
  const requestId = response.headers.get("x-request-id") ?? "";
  const [code, message, method, path, query, id, language] = (await response.text()).split("|");
  expect(response.status).toBe(expected.status);
  expect(code).toBe(expected.code);
  expect(message).toMatch(expected.message ?? /./);
  expect([method, id, language]).toEqual([init.method ?? "POST", requestId, "de"]);
  expect(path).toBe(target.split("?")[0]);
  expect(query).toBe([...new URLSearchParams(target.split("?")[1] ?? "")].join());
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/x-form",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-own": "1",
    ...expected.headers,
  });
});

test("a form without a type of its own has none, and not that of JSON", async () => {
  const response = await fetch(url("/broken?by=untyped"));
  expect(await response.text()).toBe("<p>a page</p>");
  expect(response.headers.get("content-type")).toBeNull();
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("a caller over the limit gets it with the time to wait", async () => {
  const responses: Response[] = [];
  while (responses.at(-1)?.status !== 429 && responses.length < 50) {
    responses.push(await fetch(url("/form/limited"), { method: "POST" }));
  }
  const last = responses.at(-1) as Response;
  expect(await last.text()).toMatch(/^RATE_LIMITED\|/);
  expect(last.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(last.headers.get("ratelimit-limit")).toBe("1");
});

test("a defect is in the log by the id of the request, and not in the response", async () => {
  const response = await fetch(url("/form?throw=crash"), { method: "POST" });
  const id = response.headers.get("x-request-id") as string;
  expect(await response.text()).not.toContain("hunter2");
  const logged = vault.lines.filter((line) => line.includes(id) && line.includes("hunter2"));
  expect(logged).not.toEqual([]);
});

test("a request that HTTP itself forbids gets it too", async () => {
  const answer = await sendRaw(vault.http, "POST /form HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  expect(statusOf(answer)).toBe(400);
  expect(answer).toContain("INVALID_ARGUMENT|the request must have one Host header|POST|/form|");
});

test("so does one over HTTP/2, and a HEAD gets no body", async () => {
  const session = connect(url(""));
  try {
    for (const [method, body] of [
      ["DELETE", /^METHOD_NOT_ALLOWED\|/],
      ["HEAD", /^$/],
    ] as const) {
      const stream = session.request({ ":method": method, ":path": "/form" });
      stream.end();
      const head = await new Promise<Record<string, unknown>>((resolve) =>
        stream.once("response", resolve),
      );
      expect(head).toMatchObject({ ":status": 405, "content-type": "text/x-form" });
      expect(await text(stream)).toMatch(body);
    }
  } finally {
    session.close();
  }
});

test("refusals of an RPC below a prefix have the form of RPCs", async () => {
  for (const type of ["application/proto", "application/grpc", "application/json"]) {
    const request = { method: "PUT", headers: { "content-type": type } };
    const response = await fetch(url(`${RPCS}/GetNotice`), request);
    expect([type, response.status]).toEqual([type, 405]);
    expect(response.headers.get("content-type")).toContain("text/plain");
    const other = await fetch(url(`${RPCS}/Other`), request);
    expect([type, await other.text()]).toEqual([type, expect.stringMatching(/^METHOD_NOT_ALL/)]);
    expect(other.headers.get("content-type")).toBe("text/x-form");
  }
});

test("other paths, and a handler that renders no errors, have those of the server", async () => {
  for (const target of ["/plain", "/form/other"]) {
    const response = await fetch(url(target), { method: "DELETE" });
    expect(await response.json()).toMatchObject({ request_id: expect.any(String) });
  }
});

const BROKEN_FORMS: readonly (readonly [string, RegExp | undefined])[] = [
  ["throws", /the page has no text/],
  ["declines", undefined],
  ["promises", /renderError returned a promise/],
  ["status", /renderError returned the status 200/],
  ["body", /renderError returned a body that is neither/],
  ["header", /Invalid character in header content/],
  ["large", /header/],
];

test.each(BROKEN_FORMS)("a form that %s falls back to that of the server", async (by, problem) => {
  const before = vault.lines.length;
  const response = await fetch(url(`/broken?by=${by}`));
  expect(response.status).toBe(412);
  const requestId = response.headers.get("x-request-id") as string;
  expect(await response.json()).toEqual({
    status: 412,
    code: "FAILED_PRECONDITION",
    message: "first things first",
    request_id: requestId,
  });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.has("x-a")).toBe(false);
  const faults = vault.lines.slice(before).filter((line) => line.includes("not sent"));
  expect(faults).toHaveLength(problem === undefined ? 0 : 1);
  if (problem !== undefined) expect(faults[0]).toMatch(problem);
  for (const fault of faults) expect(JSON.parse(fault)).toMatchObject({ request_id: requestId });
});

test("a method that is missing falls back too", async () => {
  const response = await fetch(url("/broken?by=throws"), { method: "POST" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
});

test("the log has the status that is sent, also of a request that is not a call", async () => {
  const response = await fetch(url("/teapot"), { method: "DELETE" });
  expect(response.status).toBe(418);
  const id = response.headers.get("x-request-id") as string;
  const lines = () => vault.lines.filter((line) => line.includes(id) && line.includes("/teapot"));
  await expect.poll(() => lines().length, { message: "the log has the request" }).toBe(1);
  expect(JSON.parse(lines()[0] as string)).toMatchObject({
    status: 418,
    code: "METHOD_NOT_ALLOWED",
  });
});

test("so has the line of a call, with the code of its error", async () => {
  const response = await fetch(url("/form?throw=refused"), { method: "POST" });
  expect(response.status).toBe(418);
  const id = response.headers.get("x-request-id") as string;
  const lines = () => vault.lines.filter((line) => line.includes(id) && line.includes('"call"'));
  await expect.poll(() => lines().length, { message: "the log has the call" }).toBe(1);
  expect(JSON.parse(lines()[0] as string)).toMatchObject({ status: 418, code: "FORBIDDEN" });
});
