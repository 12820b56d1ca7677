import { v1 } from "@authzed/authzed-node";
import { afterEach, expect, test, vi } from "vitest";
import { createSpicedbEngine, type SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { until } from "../../support/until.ts";
import {
  type FakeAnswer,
  type FakeSpicedb,
  newestState,
  startFakeSpicedb,
  zedToken,
} from "./fake-spicedb.ts";
import { modelOf, request, SCHEMA, updates } from "./fixture.ts";

const asked = request("document:a#view@user:x");
const write = { updates: updates("TOUCH", "document:a#viewer@user:x") };
const KEY = "hunter2";
const ATTEMPTS = 4;

let fake: FakeSpicedb | undefined;
let engine: SpicedbEngine | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await engine?.close();
  await fake?.close();
});

/** An engine over a server that gives this answer to every call except those for the newest state. */
async function open(answer: (count: number) => FakeAnswer, deadlineMs = 5000) {
  let count = 0;
  fake = await startFakeSpicedb((method) =>
    method === "ReadSchema" ? newestState("start") : answer(++count),
  );
  const { endpoint } = fake;
  const options = { endpoint, token: KEY, insecure: true, model: modelOf(SCHEMA), deadlineMs };
  engine = await createSpicedbEngine(options);
  return engine;
}

const countOf = (method: string) => fake?.calls.filter((call) => call === method).length;
const allowed = v1.CheckPermissionResponse.toBinary({
  checkedAt: { token: zedToken("checked") },
  permissionship: v1.CheckPermissionResponse_Permissionship.HAS_PERMISSION,
});
const written = v1.WriteRelationshipsResponse.toBinary({ writtenAt: { token: zedToken("w") } });

test.each([
  [1, "UNAVAILABLE", 1, 1],
  [2, "UNAVAILABLE", 1, 1],
  [3, "INVALID_ARGUMENT", 1, 1],
  [4, "DEADLINE_EXCEEDED", 1, 1],
  [5, "FAILED_PRECONDITION", 1, 1],
  [6, "ALREADY_EXISTS", 1, 1],
  [7, "UNAVAILABLE", 1, 1],
  [8, "RESOURCE_EXHAUSTED", 1, 1],
  [9, "FAILED_PRECONDITION", 1, 1],
  // SpiceDB has rolled back.
  [10, "UNAVAILABLE", ATTEMPTS, ATTEMPTS],
  [11, "OUT_OF_RANGE", 1, 1],
  [12, "UNIMPLEMENTED", 1, 1],
  [13, "UNAVAILABLE", 1, 1],
  // A write that the server received may have happened.
  [14, "UNAVAILABLE", ATTEMPTS, 1],
  [15, "UNAVAILABLE", 1, 1],
  [16, "UNAVAILABLE", 1, 1],
])(
  "status %i is %s, for a check after %i attempts and for a write after %i",
  async (status, code, checks, writes) => {
    const engine = await open(() => ({ status, details: `of ${KEY} and ${KEY}` }));
    const failure = { name: "AuthzError", code };
    await expect(engine.check(asked)).rejects.toMatchObject(failure);
    expect(countOf("CheckPermission")).toBe(checks);
    await expect(engine.writeRelationships(write)).rejects.toMatchObject(failure);
    expect(countOf("WriteRelationships")).toBe(writes);
  },
);

test("a refusal has the words of SpiceDB, without the key", async () => {
  const engine = await open(() => ({ status: 3, details: `of ${KEY} and ${KEY}` }));
  const message = "SpiceDB: of [secret] and [secret]";
  await expect(engine.check(asked)).rejects.toMatchObject({ message });
});

test("readiness names the address and the key, and nothing of the database of SpiceDB", async () => {
  const details = "failed to connect to `user=root database=prod`: password of root is wrong";
  fake = await startFakeSpicedb(() => ({ status: 2, details }));
  const { endpoint } = fake;
  const section = "security.authz.spicedb";
  const options = { endpoint, token: KEY, insecure: true, model: modelOf(SCHEMA), section };
  engine = await createSpicedbEngine(options);
  expect(await engine.ready()).toEqual({
    ready: false,
    reason: `SpiceDB at ${endpoint} cannot answer now: look at its log, and at its database`,
  });
  await fake.close();
  expect(await engine.ready()).toEqual({
    ready: false,
    reason: `SpiceDB at ${endpoint} cannot be reached (connection refused): check that it runs, and ${section}.endpoint`,
  });
});

test("readiness ends with the signal of whoever asks, and says who is silent", async () => {
  fake = await startFakeSpicedb(() => ({ instead: "silence" }));
  const { endpoint } = fake;
  const options = { endpoint, token: KEY, insecure: true, model: modelOf(SCHEMA) };
  engine = await createSpicedbEngine(options);
  const asking = new AbortController();
  const ready = engine.ready({ signal: asking.signal });
  await until("SpiceDB was asked", () => countOf("ReadSchema") !== 0);
  asking.abort(new DOMException("late", "TimeoutError"));
  expect(await ready).toEqual({
    ready: false,
    reason: `SpiceDB at ${endpoint} does not answer: check that it runs, the network, and endpoint`,
  });
});

test("a read that is out of time while it is tried again says why it had to be", async () => {
  const engine = await open((count) => (count === 1 ? { status: 14 } : { instead: "silence" }));
  const asking = new AbortController();
  const call = engine.check(asked, { signal: asking.signal });
  await until("SpiceDB was asked again", () => countOf("CheckPermission") === 2);
  asking.abort(new DOMException("late", "TimeoutError"));
  await expect(call).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^SpiceDB at .* cannot answer now/),
  });
});

test("another server at the address is not SpiceDB", async () => {
  fake = await startFakeSpicedb(() => ({ status: 12, details: "unknown service" }));
  const { endpoint } = fake;
  const options = { endpoint, token: KEY, insecure: true, model: modelOf(SCHEMA) };
  engine = await createSpicedbEngine(options);
  expect(await engine.ready()).toEqual({
    ready: false,
    reason: `what answers at ${endpoint} is not SpiceDB: correct endpoint`,
  });
});

test("a check that fails temporarily is retried", async () => {
  const engine = await open((count) => (count < 3 ? { status: 14 } : { messages: [allowed] }));
  expect((await engine.check(asked)).allowed).toBe(true);
});

test("a write whose answer is lost is not sent again, and the next read asks for the newest state", async () => {
  const engine = await open((count) => {
    if (count === 2) return { messages: [], instead: "break" };
    return { messages: [count === 1 ? written : allowed] };
  });
  await engine.writeRelationships(write);
  expect(countOf("ReadSchema")).toBe(0);
  await expect(engine.writeRelationships(write)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(countOf("WriteRelationships")).toBe(2);
  expect((await engine.check(asked)).allowed).toBe(true);
  // Twice, because SpiceDB may answer the first with the cached result of an earlier request.
  expect(countOf("ReadSchema")).toBe(2);
});

test("a connection that breaks at each attempt is an error, not a decision", async () => {
  const engine = await open(() => ({ instead: "break" }));
  await expect(engine.check(asked)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("the deadline applies to the whole call, including all requests to SpiceDB", async () => {
  const pair = {
    response: {
      oneofKind: "item",
      item: { permissionship: v1.CheckPermissionResponse_Permissionship.HAS_PERMISSION },
    },
  } as unknown as v1.CheckBulkPermissionsPair;
  const half = v1.CheckBulkPermissionsResponse.toBinary({
    checkedAt: { token: zedToken("bulk") },
    pairs: Array.from({ length: 500 }, () => pair),
  });
  const deadlineMs = 54_321;
  const engine = await open(
    (count) => (count === 1 ? { messages: [half] } : { instead: "silence" }),
    deadlineMs,
  );
  const deadlines = timersOf(deadlineMs);
  const requests = Array.from({ length: 1000 }, () => asked);
  const late = engine.checkBulk(requests);
  await until("SpiceDB is asked again", () => countOf("CheckBulkPermissions") === 2);
  // The first timer was started before the first request.
  deadlines[0]?.();
  await expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  expect(countOf("CheckBulkPermissions")).toBe(2);
});

/** The callbacks of timers of this length that are started from now on. */
function timersOf(length: number): (() => void)[] {
  const found: (() => void)[] = [];
  const start = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms?: number) => {
    if (ms === length) found.push(work);
    return start(work, ms);
  }) as typeof setTimeout);
  return found;
}

test("a caller that cancels between two attempts gets CANCELLED", async () => {
  const engine = await open(() => ({ status: 14 }));
  const gone = new AbortController();
  const call = engine.check(asked, { signal: gone.signal });
  await until("SpiceDB was asked", () => countOf("CheckPermission") !== 0);
  gone.abort();
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a running call ends when the engine is closed", async () => {
  const engine = await open(() => ({ instead: "silence" }));
  const call = engine.check(asked);
  await until("SpiceDB was asked", () => countOf("CheckPermission") !== 0);
  const closed = engine.close();
  await expect(call).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "the engine is closed",
  });
  await closed;
});

test.each([
  [{ endpoint: "" }, /host:port/],
  [{ endpoint: "localhost" }, /host:port/],
  [{ endpoint: "a b:1" }, /host:port/],
  [{ token: "" }, /printable ASCII/],
  [{ token: "secret\nkey" }, /printable ASCII/],
  [{ ca: "pem" }, /insecure or a CA/],
  [{ deadlineMs: 0 }, /deadline must be 1 to/],
  [{ deadlineMs: Number.NaN }, /deadline must be 1 to/],
  [{ deadlineMs: 2 ** 31 }, /deadline must be 1 to/],
])("options that cannot connect are refused: %j", async (wrong, message) => {
  const options = { endpoint: "localhost:1", token: KEY, insecure: true, model: modelOf(SCHEMA) };
  const error = await createSpicedbEngine({ ...options, ...wrong }).catch((error) => error);
  expect(error).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(message),
  });
  expect(error.message).not.toContain("secret\nkey");
});
