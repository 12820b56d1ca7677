/** The codes of calls whose response an interceptor returns in place of a raw handler's. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RawHandler, RawResponse } from "../../../../src/runtime/http/raw/raw-handler.ts";
import {
  type Interceptor,
  readRouteDocument,
  ServiceError,
} from "../../../../src/runtime/index.ts";
import { FIXTURE, type RunningVault, startVault } from "../../support/vault-server.ts";

let handle: RawHandler["handle"];
let before: Interceptor;
let after: Interceptor;
const pass: Interceptor = (_, next) => next();
let vault: RunningVault;

beforeAll(async () => {
  const document = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
  const audit = { event: "hook.receive", riskLevel: "MEDIUM" };
  const path = { path: "/hook", match: "exact", methods: ["POST"], exposure: "PUBLIC", audit };
  vault = await startVault({
    routes: { ...document, paths: [path] } as never,
    rawHandlers: [{ path: "/hook", handle: (request, context) => handle(request, context) }],
    before: [(call, next) => before(call, next)],
    after: [(call, next) => after(call, next)],
  });
});
afterAll(() => vault.stop());
beforeEach(() => {
  vault.lines.length = 0;
  [before, after] = [pass, pass];
});

/** The code of a call in its line of the log, and in its audit event. */
async function recorded() {
  const response = await fetch(`http://127.0.0.1:${vault.http}/hook`, { method: "POST" });
  await response.arrayBuffer();
  const requestId = response.headers.get("x-request-id") ?? "";
  const page = await vault.server.audit?.list({ requestId });
  const { status, code, answered } = page?.events[0]?.data ?? {};
  const lines = vault.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const line = lines.find(({ message }) => message === "call");
  return {
    sent: response.status,
    line: [line?.["status"], line?.["code"]],
    event: { status, code, ...(answered === undefined ? {} : { answered }) },
  };
}

const answers = (...statuses: readonly number[]): RawHandler["handle"] => {
  const rest = [...statuses];
  return () => ({ status: rest.length > 1 ? (rest.shift() as number) : (rest[0] as number) });
};
const returns = (response: RawResponse): Interceptor => {
  return async (_, next) => {
    await next();
    return response;
  };
};
const OK = { status: 200, code: "OK" };
const MISSING = { status: 404, code: "RESOURCE_NOT_FOUND" };
const DOWN = { status: 503, code: "UNAVAILABLE" };

test("an error that is replaced by a success", async () => {
  handle = answers(404);
  for (const place of ["before", "after"]) {
    vault.lines.length = 0;
    [before, after] = [pass, pass];
    if (place === "before") before = returns({ status: 200 });
    else after = returns({ status: 200 });
    expect(await recorded()).toEqual({
      sent: 200,
      line: [200, "OK"],
      event: { ...MISSING, answered: OK },
    });
  }
});

test("a success that is replaced by an error", async () => {
  handle = answers(202);
  after = returns({ status: 503 });
  expect(await recorded()).toEqual({
    sent: 503,
    line: [503, "UNAVAILABLE"],
    event: { ...OK, answered: DOWN },
  });
});

test("an error that is replaced by another one", async () => {
  handle = answers(404);
  after = returns({ status: 503 });
  expect(await recorded()).toEqual({
    sent: 503,
    line: [503, "UNAVAILABLE"],
    event: { ...MISSING, answered: DOWN },
  });
});

test("an error after which an interceptor throws", async () => {
  handle = answers(404);
  after = async (_, next) => {
    await next();
    throw new ServiceError("FORBIDDEN");
  };
  const answered = { status: 403, code: "FORBIDDEN" };
  expect(await recorded()).toEqual({
    sent: 403,
    line: [403, "FORBIDDEN"],
    event: { ...MISSING, answered },
  });
});

test("a handler that is called again, with success", async () => {
  handle = answers(503, 202);
  after = async (_, next) => {
    await next();
    return next();
  };
  expect(await recorded()).toEqual({
    sent: 202,
    line: [202, "OK"],
    event: { status: 202, code: "OK" },
  });
});

test("a response without the handler", async () => {
  for (const [status, code] of [
    [200, "OK"],
    [503, "UNAVAILABLE"],
  ]) {
    vault.lines.length = 0;
    before = async () => ({ status });
    expect(await recorded()).toMatchObject({ sent: status, line: [status, code] });
  }
});
