/** Requests of pages of other origins, through the whole server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALICE } from "../support/alice.ts";
import {
  type Field,
  headerOf,
  type RawResponse,
  requestText,
  sendText,
} from "../support/raw-http.ts";
import { startWorld, type World } from "../support/world.ts";

const APP = "https://app.example.com";
let world: World;
beforeAll(async () => {
  const address = { address: "127.0.0.1:0" };
  const config = {
    server: { http: { ...address, cors: { allowed_origins: [APP] } }, grpc: address },
  };
  world = await startWorld({ mode: "gateway_trusted", config });
});
afterAll(() => world.stop());

async function send(line: string, fields: readonly Field[]): Promise<RawResponse> {
  const body = line.startsWith("PUT") ? "{}" : "";
  const type: Field[] = body === "" ? [] : [["Content-Type", "application/json"]];
  const [response] = await sendText(
    world.port("http", "trusted"),
    requestText(line, [...type, ...fields], body),
  );
  return response as RawResponse;
}

const grants = (response: RawResponse) =>
  response.headers.filter(([name]) => name.startsWith("access-control-")).map(([name]) => name);

test.each([
  "null",
  "*",
  `${APP}.evil.com`,
  "https://evilapp.example.com",
  "https://app.example.com@evil.com",
  "http://app.example.com",
  `${APP}:444`,
  `${APP}/`,
  `${APP}, https://evil.com`,
  "https://APP.example.com",
  "",
])("41 the origin %j may neither ask, nor read, nor write", async (origin) => {
  const fields: Field[] = [...ALICE, ["Origin", origin]];
  const asked = await send("OPTIONS /v1/documents/open", [
    ...fields,
    ["Access-Control-Request-Method", "PUT"],
  ]);
  expect(asked.status).toBe(403);
  const read = await send("GET /v1/documents/open", fields);
  expect(headerOf(read, "vary")).toMatch(/origin/i);
  world.handled.length = 0;
  const written = await send("PUT /v1/documents/open", fields);
  // The check of writes ignores letter case, like host names.
  if (origin !== "https://APP.example.com") {
    expect(written.status).toBe(403);
    expect(world.handled).toEqual([]);
  }
  for (const response of [asked, read, written]) expect(grants(response)).toEqual([]);
});

test("41 an allowed origin is returned by name, never as *", async () => {
  const fields: Field[] = [...ALICE, ["Origin", APP]];
  for (const [line, more] of [
    ["OPTIONS /v1/documents/open", [["Access-Control-Request-Method", "PUT"]]],
    ["GET /v1/documents/open", []],
    ["PUT /v1/documents/open", []],
    ["GET /v1/nothing", []],
  ] as [string, Field[]][]) {
    const response = await send(line, [...fields, ...more]);
    expect(headerOf(response, "access-control-allow-origin")).toBe(APP);
    expect(headerOf(response, "access-control-allow-credentials")).toBe("true");
    expect(headerOf(response, "vary")).toMatch(/origin/i);
  }
});

test("41 a preflight runs nothing, and allows no identity header", async () => {
  world.handled.length = 0;
  const fields: Field[] = [
    ...ALICE,
    ["Origin", APP],
    ["Access-Control-Request-Method", "PUT"],
    ["Access-Control-Request-Headers", "X-Svc-User-Id"],
  ];
  const response = await send("OPTIONS /v1/documents/open", fields);
  expect(response.status).toBe(204);
  expect(headerOf(response, "access-control-allow-headers")).not.toMatch(/svc-/i);
  expect(world.handled).toEqual([]);
});

test.each(["*", "null", "https://*.example.com", "https://app.example.com/"])(
  "41 the configuration cannot allow %s",
  async (origin) => {
    const config = {
      server: { http: { address: "127.0.0.1:0", cors: { allowed_origins: [origin] } } },
    };
    await expect(startWorld({ mode: "gateway_trusted", config })).rejects.toThrow(/origin/);
  },
);

test.each(["", "short", " ".repeat(20)])(
  "2 the configuration cannot accept the token %j",
  async (token) => {
    for (const one of [token, [{ service: "hub", token }]]) {
      const authn = { internal_call: { enabled: true, token: one } };
      await expect(startWorld({ mode: "gateway_trusted", authn })).rejects.toThrow(/token/);
    }
  },
);
