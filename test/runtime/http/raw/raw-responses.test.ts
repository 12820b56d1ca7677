import { afterEach, expect, test } from "vitest";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import type { RawResponse, RenderError } from "../../../../src/runtime/http/raw/raw-handler.ts";
import { get, rawMethod, sendRaw, start, stopAll } from "../support.ts";

afterEach(stopAll);

const path = { path: "/raw", match: "exact", methods: ["GET"], exposure: "PUBLIC" } as const;

/** What a client gets of a handler that returns this, and whether the next one is served. */
async function answerTo(answer: unknown): Promise<{ response: Response; faults: unknown[] }> {
  const answers = [answer, { status: 200, body: "next" }];
  const rawMethods = [rawMethod(path, async () => answers.shift() as RawResponse)];
  const { origin, faults } = await start({ rawMethods });
  const response = await fetch(`${origin}/raw`, { signal: AbortSignal.timeout(5000) });
  expect(await (await fetch(`${origin}/raw`)).text()).toBe("next");
  return { response, faults };
}

test.each<[string, unknown]>([
  ["a body that is an object", { status: 200, body: { a: 1 } }],
  ["a body that is a number", { status: 200, body: 7 }],
  ["a body that is null", { status: 200, body: null }],
  ["no status", { body: "text" }],
  ["a status below 200", { status: 100 }],
  ["a status above 599", { status: 600 }],
  ["a status that is a text", { status: "200" }],
  ["a header that cannot be sent", { status: 200, headers: { "x-a": "中" } }],
  ["headers that are too large", { status: 200, headers: { "x-a": "a".repeat(17_000) } }],
  ["too many headers", { status: 200, headers: { "x-a": Array.from({ length: 513 }, () => "") } }],
  ["a header that is none", { status: 200, headers: { "x\ny": "1" } }],
])(
  "%s is INTERNAL, is reported in the log, and costs nobody else their answer",
  async (_, answer) => {
    const { response, faults } = await answerTo(answer);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(faults).toHaveLength(1);
  },
);

test.each([204, 304])(
  "a response with status %i has no body, and says no length",
  async (status) => {
    const { response, faults } = await answerTo({ status, body: "text" });
    expect(response.status).toBe(status);
    expect(response.headers.has("content-length")).toBe(false);
    expect(await response.text()).toBe("");
    expect(faults).toEqual([]);
  },
);

test("bytes and texts arrive unchanged", async () => {
  for (const body of ["täxt", new Uint8Array([0, 255, 7])]) {
    const { response } = await answerTo({ status: 201, body });
    expect(response.status).toBe(201);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(body as string));
    await stopAll();
  }
});

test.each(["an ASCII body", "é"])(
  "the bytes of a header are those of UTF-8, whatever the text is: %s",
  async (body) => {
    const headers = { "content-disposition": 'attachment; filename="é.txt"' };
    const method = rawMethod(path, async ({ query }) => {
      if (query.has("throw")) throw new ServiceError("FORBIDDEN");
      return { status: 200, headers, body };
    });
    const renderError: RenderError = () => ({ headers, body });
    const { port } = await start({ rawMethods: [{ ...method, renderError }] });
    for (const target of ["/raw", "/raw?throw"]) {
      const response = Buffer.from(await sendRaw(port, get(target)), "latin1").toString("utf8");
      expect(response).toContain('filename="é.txt"');
    }
  },
);

test("the id of the request is that of the log, unless the handler sets another one", async () => {
  const { response } = await answerTo({ status: 200 });
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  await stopAll();
  const own = { status: 200, headers: { "x-request-id": "an id of theirs" } };
  expect((await answerTo(own)).response.headers.get("x-request-id")).toBe("an id of theirs");
});

test("a query that begins with a question mark keeps it, also in the form of an error", async () => {
  const method = rawMethod(path, async ({ query }) => {
    if (query.has("throw")) throw new ServiceError("FORBIDDEN");
    return { status: 200, body: query.toString() };
  });
  const renderError: RenderError = (_, { query }) => ({ body: query.toString() });
  const { origin } = await start({ rawMethods: [{ ...method, renderError }] });
  const answers = ["?b=1", "b=1?", "??", "?b&throw"].map(async (query) =>
    (await fetch(`${origin}/raw?${query}`)).text(),
  );
  expect(await Promise.all(answers)).toEqual(["%3Fb=1", "b=1%3F", "%3F%3F=", "%3Fb=&throw="]);
});
