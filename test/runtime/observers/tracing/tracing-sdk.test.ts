import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  type CallContext,
  createGrpcClient,
  createHttpClient,
  type RawHandler,
  readRouteDocument,
  ServiceError,
} from "../../../../src/runtime/index.ts";
import { ROOT } from "../../../support/workspace.ts";
import { VaultService } from "../../fixture/gen/acme/vault/v1/vault_pb.ts";
import {
  bindVaultService,
  type VaultServiceHandlers,
  VaultServiceRoutes,
} from "../../fixture/gen/acme/vault/v1/vault_server.ts";
import { rawCall, rawSession } from "../../grpc/support/raw-call.ts";
import { vaultHandlers } from "../../support/vault-handlers.ts";
import {
  FIXTURE,
  type RunningVault,
  shareDocument,
  startVault,
  type VaultOptions,
} from "../../support/vault-server.ts";

/** The values of a span that the exporter of the page prints. */
interface PrintedSpan {
  readonly resource: { readonly attributes: Record<string, unknown> };
  readonly traceId: string;
  readonly parentSpanContext?: { readonly spanId: string; readonly isRemote?: boolean };
  readonly traceState?: string;
  readonly name: string;
  readonly id: string;
  readonly kind: SpanKind;
  readonly attributes: Record<string, unknown>;
  readonly status: { readonly code: SpanStatusCode; readonly message?: string };
  readonly events: readonly { name: string; attributes: Record<string, unknown> }[];
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SAMPLED = { traceparent: `00-${TRACE}-${SPAN}-01` };
const ALICE = { "x-svc-external-sub": "alice" };

const folder = mkdtempSync(join(tmpdir(), "svc-access-tracing-"));
let provider: { forceFlush(): Promise<void>; shutdown(): Promise<void> };
let vault: RunningVault;
let spans: PrintedSpan[] = [];
const closing: (() => unknown)[] = [];

/** Handlers that a test sets for its own calls. */
const handlers: Partial<VaultServiceHandlers> = {};

beforeAll(async () => {
  vi.spyOn(console, "dir").mockImplementation((span) => void spans.push(span as PrintedSpan));
  provider = await runPage();
  vault = await start();
  await shareDocument(vault.engine);
});
beforeEach(async () => {
  await provider.forceFlush();
  spans = [];
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  for (const name of Object.keys(handlers)) delete handlers[name as keyof VaultServiceHandlers];
});
afterAll(async () => {
  await vault.stop();
  await provider.shutdown();
  for (const global of [trace, context, propagation]) global.disable();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the code of the page unchanged. */
async function runPage() {
  const page = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
  const [, code = ""] = /^```ts\n(\/\/ src\/tracing\.ts[\s\S]*?)^```$/m.exec(page) ?? [];
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "tracing.ts"), code);
  return (await import(pathToFileURL(join(folder, "tracing.ts")).href)).provider;
}

function start(options: VaultOptions = {}): Promise<RunningVault> {
  const own = vaultHandlers();
  const late = Object.fromEntries(
    Object.entries(own).map(([name, handler]) => [
      name,
      (request: never, context: never) => {
        const set = handlers[name as keyof VaultServiceHandlers] ?? handler;
        return (set as (request: never, context: never) => unknown)(request, context);
      },
    ]),
  );
  return startVault({ bindings: [bindVaultService(late as unknown as typeof own)], ...options });
}

async function printed(): Promise<PrintedSpan[]> {
  await provider.forceFlush();
  return spans;
}

/** The spans of the server, once a number of them have ended. */
async function serverSpans(count = 1): Promise<PrintedSpan[]> {
  const ofServers = async () => (await printed()).filter(({ kind }) => kind === SpanKind.SERVER);
  await vi.waitFor(async () => expect(await ofServers()).toHaveLength(count), { timeout: 60_000 });
  return ofServers();
}

async function serverSpan(): Promise<PrintedSpan> {
  return (await serverSpans())[0] as PrintedSpan;
}

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${vault.http}${path}`, { headers });

async function rawGrpc(method: string, headers: Record<string, string>) {
  const session = rawSession(vault.grpc);
  closing.push(() => session.close());
  return rawCall(session, `/acme.vault.v1.VaultService/${method}`, headers);
}

function grpcClient(port = vault.grpc) {
  const client = createGrpcClient(VaultService, { target: `127.0.0.1:${port}`, retry: false });
  closing.push(() => client.close());
  return client;
}

function httpClient() {
  const baseUrl = `http://127.0.0.1:${vault.http}`;
  const client = createHttpClient(VaultService, VaultServiceRoutes, { baseUrl });
  closing.push(() => client.close());
  return client;
}

const answer = { subjectId: "", subjectType: "", source: "", echo: "" };

test("a request has a span with the HTTP conventions, whose parent is the caller's", async () => {
  const response = await get("/v1/documents/open", {
    ...ALICE,
    ...SAMPLED,
    "user-agent": "probe/1",
    "x-forwarded-proto": "https",
  });
  expect(response.status).toBe(200);
  const span = await serverSpan();
  expect(span).toMatchObject({
    name: "GET /v1/documents/{document_id}",
    kind: SpanKind.SERVER,
    traceId: TRACE,
    parentSpanContext: { spanId: SPAN, isRemote: true },
    status: { code: SpanStatusCode.UNSET },
    events: [],
  });
  expect(span.resource.attributes["service.name"]).toBe("notes");
  expect(span.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/v1/documents/{document_id}",
    "url.scheme": "https",
    "url.path": "/v1/documents/open",
    "server.address": "127.0.0.1",
    "server.port": vault.http,
    "user_agent.original": "probe/1",
    "rpc.method": "acme.vault.v1.VaultService/GetDocument",
    "client.address": "127.0.0.1",
    "network.peer.address": "127.0.0.1",
    "http.response.status_code": 200,
  });
});

test("a gRPC call has a span with the RPC conventions", async () => {
  const { grpcStatus } = await rawGrpc("GetNotice", SAMPLED);
  expect(grpcStatus).toBe(0);
  const span = await serverSpan();
  expect(span).toMatchObject({
    name: "acme.vault.v1.VaultService/GetNotice",
    kind: SpanKind.SERVER,
    traceId: TRACE,
    parentSpanContext: { spanId: SPAN, isRemote: true },
    status: { code: SpanStatusCode.UNSET },
  });
  expect(span.attributes).toEqual({
    "rpc.system.name": "grpc",
    "rpc.method": "acme.vault.v1.VaultService/GetNotice",
    "rpc.response.status_code": "OK",
    "client.address": "127.0.0.1",
    "network.peer.address": "127.0.0.1",
  });
});

test("the access log and the audit event have the ids of the span", async () => {
  vault.lines.length = 0;
  const response = await fetch(`http://127.0.0.1:${vault.http}/v1/documents/open`, {
    method: "PUT",
    headers: { ...ALICE, ...SAMPLED, "content-type": "application/json" },
    body: '{"text": "x"}',
  });
  expect(response.status).toBe(200);
  const span = await serverSpan();
  const calls = vault.lines.map((line) => JSON.parse(line)).filter(({ rpc }) => rpc !== undefined);
  expect(calls).toMatchObject([{ trace_id: TRACE, span_id: span.id }]);
  const { events } = (await vault.server.audit?.list({ traceId: TRACE })) ?? { events: [] };
  expect(events[0]?.data.trace_id).toBe(TRACE);
  expect(events[0]?.traceparent).toBe(`00-${TRACE}-${span.id}-01`);
});

test.each([
  ["nothing", {}],
  ["a malformed one", { traceparent: "00-xyz-01" }],
  ["one of zeros", { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` }],
  ["one of a forbidden version", { traceparent: `ff-${TRACE}-${SPAN}-01` }],
  ["one in upper case", { traceparent: `00-${TRACE.toUpperCase()}-${SPAN}-01` }],
])("with %s for a traceparent a new trace begins", async (_, headers) => {
  expect((await get("/v1/notices/n", headers)).status).toBe(200);
  const span = await serverSpan();
  expect(span.parentSpanContext).toBeUndefined();
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(span.traceId).not.toBe(TRACE);
});

test("two traceparents are ignored", async () => {
  const { traceparent } = SAMPLED;
  const options = {
    port: vault.http,
    path: "/v1/notices/n",
    headers: { traceparent: [traceparent, traceparent] },
  };
  await new Promise((resolve) => {
    request(options, (response) => response.resume().on("end", resolve)).end();
  });
  expect((await serverSpan()).traceId).not.toBe(TRACE);
});

test("an unsampled trace is continued, and not recorded", async () => {
  vault.lines.length = 0;
  await get("/v1/notices/n", { traceparent: `00-${TRACE}-${SPAN}-00` });
  expect(await printed()).toEqual([]);
  expect(vault.lines.join("")).toContain(`"trace_id":"${TRACE}"`);
});

test.each([
  ["FORBIDDEN", 403, "PERMISSION_DENIED", undefined],
  ["RESOURCE_NOT_FOUND", 404, "NOT_FOUND", undefined],
  ["RATE_LIMITED", 429, "RESOURCE_EXHAUSTED", undefined],
  ["INTERNAL", 500, "INTERNAL", "500"],
  ["UNAVAILABLE", 503, "UNAVAILABLE", "503"],
  ["DEADLINE_EXCEEDED", 504, "DEADLINE_EXCEEDED", "504"],
] as const)(
  "%s is an error in the server's span only if it is the server's fault",
  async (code, http, grpc, fault) => {
    handlers.getNotice = async () => {
      throw new ServiceError(code);
    };
    const status = { code: fault === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR };
    await get("/v1/notices/n");
    const overHttp = await serverSpan();
    expect(overHttp.status).toEqual(status);
    expect(overHttp.attributes).toMatchObject({
      "http.response.status_code": http,
      "svc_access.code": code,
    });
    expect(overHttp.attributes["error.type"]).toBe(fault);
    spans = [];
    await grpcClient()
      .getNotice({}, { timeoutMs: 2000 })
      .catch(() => undefined);
    const overGrpc = (await serverSpans(spans.length || 1))[0] as PrintedSpan;
    expect(overGrpc.status).toEqual(status);
    expect(overGrpc.attributes).toMatchObject({
      "rpc.response.status_code": grpc,
      "svc_access.code": code,
    });
    expect(overGrpc.attributes["error.type"]).toBe(fault === undefined ? undefined : grpc);
  },
);

test("refusals before the handler have spans, too", async () => {
  expect((await get("/v1/profile", SAMPLED)).status).toBe(401);
  expect(await serverSpan()).toMatchObject({
    traceId: TRACE,
    status: { code: SpanStatusCode.UNSET },
    attributes: { "http.response.status_code": 401, "svc_access.code": "UNAUTHORIZED" },
  });
});

test("an exception of a handler is recorded without secrets, and not sent to the caller", async () => {
  handlers.getNotice = async () => {
    throw new TypeError("no connection to postgres://app:SECRET@db with token=SECRET");
  };
  const response = await get("/v1/notices/token=SECRET", { "user-agent": "x?token=SECRET" });
  expect(await response.text()).not.toContain("connection");
  const span = await serverSpan();
  expect(span.events).toMatchObject([
    {
      name: "exception",
      attributes: {
        "exception.type": "TypeError",
        "exception.message": "no connection to postgres://app:***@db with token=***",
        "exception.stacktrace": expect.stringContaining("tracing-sdk.test"),
      },
    },
  ]);
  expect(JSON.stringify(span)).not.toContain("SECRET");
});

test.each([
  ["gRPC", () => grpcClient()],
  ["HTTP", () => httpClient()],
] as const)(
  "over %s a second service continues below the client's span",
  async (transport, open) => {
    const second = open();
    handlers.getProfile = async (_, context: CallContext) =>
      trace.getTracer("own").startActiveSpan("own", async (own) => {
        const { echo } = await second.getNotice({ noticeId: "far" }, { context });
        own.end();
        return { ...answer, echo };
      });
    const response = await get("/v1/profile", { ...ALICE, ...SAMPLED, tracestate: "vendor=1,b=2" });
    expect(await response.json()).toMatchObject({ echo: "far" });
    await serverSpans(2);
    const named = (name: string, kind: SpanKind) =>
      spans.find((span) => span.name === name && span.kind === kind) as PrintedSpan;
    const rpc = "acme.vault.v1.VaultService/GetNotice";
    const first = named("GET /v1/profile", SpanKind.SERVER);
    const own = named("own", SpanKind.INTERNAL);
    const client = named(rpc, SpanKind.CLIENT);
    const far = named(transport === "gRPC" ? rpc : "GET /v1/notices/{notice_id}", SpanKind.SERVER);
    expect(own.parentSpanContext?.spanId).toBe(first.id);
    expect(client.parentSpanContext?.spanId).toBe(own.id);
    expect(far.parentSpanContext?.spanId).toBe(client.id);
    expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE, TRACE, TRACE]);
    expect(spans.map(({ traceState }) => traceState)).toEqual(Array(4).fill("vendor=1,b=2"));
    expect(client.attributes).toMatchObject({ "rpc.method": rpc, "server.address": "127.0.0.1" });
  },
);

test("an unsampled trace stays unsampled in the second service", async () => {
  const second = grpcClient();
  handlers.getProfile = async (_, context: CallContext) => {
    await second.getNotice({}, { context });
    return answer;
  };
  vault.lines.length = 0;
  await get("/v1/profile", { ...ALICE, traceparent: `00-${TRACE}-${SPAN}-00` });
  expect(await printed()).toEqual([]);
  expect(vault.lines.filter((line) => line.includes(TRACE))).toHaveLength(2);
});

test("the span of a client has its failure", async () => {
  const client = grpcClient(1);
  await expect(client.reconcile({}, { timeoutMs: 3000 })).rejects.toThrow();
  expect(await printed()).toMatchObject([
    {
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.ERROR },
      attributes: { "rpc.response.status_code": "UNAVAILABLE", "error.type": "UNAVAILABLE" },
    },
  ]);
});

test("the span of a stream ends with the stream, and is the parent of what runs in it", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  handlers.watchDocument = async function* () {
    yield answer;
    await held;
    trace.getTracer("own").startSpan("step").end();
    yield answer;
  };
  const client = grpcClient();
  const stream = client.watchDocument({ documentId: "open" }, { metadata: ALICE });
  const steps = stream[Symbol.asyncIterator]();
  await steps.next();
  expect(await printed()).toEqual([]);
  release();
  await steps.next();
  expect((await steps.next()).done).toBe(true);
  const server = await serverSpan();
  const step = spans.find(({ name }) => name === "step");
  const own = spans.find(({ kind }) => kind === SpanKind.CLIENT);
  expect(step?.parentSpanContext?.spanId).toBe(server.id);
  expect(server.parentSpanContext?.spanId).toBe(own?.id);
  expect(server.attributes["rpc.response.status_code"]).toBe("OK");
  expect(own?.attributes["rpc.response.status_code"]).toBe("OK");
});

test("a stream whose client disconnects is a cancelled call", async () => {
  handlers.watchDocument = async function* (_, { signal }) {
    yield answer;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const overGrpc = grpcClient().watchDocument({ documentId: "open" }, { metadata: ALICE });
  for await (const _ of overGrpc) break;
  expect(await serverSpan()).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { "rpc.response.status_code": "CANCELLED", "svc_access.code": "CANCELLED" },
  });
  spans = [];
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${vault.http}/v1/documents/open:watch`, {
    headers: ALICE,
    signal: abort.signal,
  });
  await response.body?.getReader().read();
  abort.abort();
  expect(await serverSpan()).toMatchObject({
    name: "GET /v1/documents/{document_id}:watch",
    status: { code: SpanStatusCode.ERROR },
    attributes: { "http.response.status_code": 200, "error.type": "CANCELLED" },
  });
});

test("a call whose client disconnects before the response has no status", async () => {
  let begun: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  handlers.getNotice = async (_, { signal }) => {
    begun();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return answer;
  };
  const abort = new AbortController();
  const left = fetch(`http://127.0.0.1:${vault.http}/v1/notices/n`, { signal: abort.signal });
  await running;
  abort.abort();
  await expect(left).rejects.toThrow();
  const span = await serverSpan();
  expect(span.status.code).toBe(SpanStatusCode.ERROR);
  expect(span.attributes["error.type"]).toBe("CANCELLED");
  expect(span.attributes).not.toHaveProperty("http.response.status_code");
});

test("requests without a route, and probes, have no span", async () => {
  for (const path of ["/", "/nothing/here", "/healthz", "/readyz", "/v1/documents/a/b/c"]) {
    await get(path, SAMPLED);
  }
  expect((await rawGrpc("Nothing", SAMPLED)).grpcStatus).toBe(12);
  expect(await printed()).toEqual([]);
});

test("a raw handler has the span of its declared path, and its own status", async () => {
  const pages: RawHandler = {
    path: "/pages",
    handle: async () => ({ status: 503, body: "later" }),
  };
  const other = await start({
    routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
    rawHandlers: [pages],
  });
  closing.push(() => other.stop());
  await fetch(`http://127.0.0.1:${other.http}/pages/of/nobody`);
  expect(await serverSpan()).toMatchObject({
    name: "GET /pages",
    status: { code: SpanStatusCode.ERROR },
    attributes: { "url.path": "/pages/of/nobody", "http.response.status_code": 503 },
  });
});

test.each([
  ["an error that the form makes a fault", "FORBIDDEN", 503, 503],
  ["a fault that the form does not report as one", "UNAVAILABLE", 400, 400],
  ["a cancellation in another form", "CANCELLED", 418, 418],
  ["an error in the form of the server", "UNAVAILABLE", undefined, 503],
  ["a form whose status is none", "FORBIDDEN", 200, 403],
  ["a handler that answers nothing", undefined, undefined, 500],
] as const)("the span has the status that the client gets: %s", async (_, code, form, status) => {
  const pages: RawHandler = {
    path: "/pages",
    handle: async () => {
      if (code !== undefined) throw new ServiceError(code);
      return undefined;
    },
    renderError: () => (form === undefined ? undefined : { status: form, body: "no" }),
  };
  const other = await start({
    routes: readRouteDocument(join(FIXTURE, "gen/routes/vault.json")),
    rawHandlers: [pages],
  });
  closing.push(() => other.stop());
  expect((await fetch(`http://127.0.0.1:${other.http}/pages/of/nobody`)).status).toBe(status);
  const span = await serverSpan();
  expect(span.attributes["http.response.status_code"]).toBe(status);
  expect(span.attributes["svc_access.code"]).toBe(code);
  const isFault = status >= 500;
  expect(span.attributes["error.type"]).toBe(isFault ? String(status) : undefined);
  expect(span.status.code).toBe(isFault ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
});

test("a span that cannot be ended fails no call, and does not end the process", async () => {
  const tracer = trace.getTracer("svc-access");
  const prototype = Object.getPrototypeOf(tracer.startSpan("one"));
  const end = vi.spyOn(prototype, "end").mockImplementation(() => {
    throw new Error("the exporter is broken");
  });
  try {
    expect((await get("/v1/documents/open", ALICE)).status).toBe(200);
    await vi.waitFor(() => expect(end).toHaveBeenCalled());
  } finally {
    end.mockRestore();
  }
  expect((await get("/v1/documents/open", ALICE)).status).toBe(200);
  await vi.waitFor(() => {
    expect(vault.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: "a call could not be traced",
        error: expect.objectContaining({ message: "the exporter is broken" }),
      }),
    );
  });
});
