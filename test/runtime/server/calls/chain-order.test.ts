/** The custom stages of the chain, admission, raw handlers and further credentials, over real sockets. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Authenticator,
  type Interceptor,
  readRouteDocument,
  ServiceError,
} from "../../../../src/runtime/index.ts";
import {
  FIXTURE,
  type RunningVault,
  shareDocument,
  startVault,
} from "../../support/vault-server.ts";

const alice = { "x-svc-external-sub": "alice" };
const routes = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
const seen: string[] = [];
let vault: RunningVault;

/** Records what is known of a call at a place of the chain. */
const note =
  (place: string): Interceptor =>
  async (call, next) => {
    const caller = call.principal?.subjectId ?? "nobody yet";
    seen.push(
      `${place}: ${caller}, ${call.request === undefined ? "no request yet" : "a request"}`,
    );
    const response = await next();
    seen.push(`${place} again`);
    return response;
  };

/** A credential that is checked after those of the configured mode. */
const badge: Authenticator = {
  name: "badge",
  authenticate({ headers }) {
    const [value] = headers.all("x-badge");
    if (value === undefined) return undefined;
    if (value !== "carol") throw new ServiceError("UNAUTHORIZED", "wrong badge");
    const names = { username: value, name: value, email: "", organizationId: "" };
    const lists = { groups: [], roles: [], scopes: [] };
    const principal = {
      subjectId: value,
      subjectType: "user",
      source: "jwt",
      ...names,
      ...lists,
    } as const;
    return { principal, credential: "cookie" };
  },
};

beforeAll(async () => {
  vault = await startVault({
    routes,
    before: [note("before 1"), note("before 2")],
    after: [note("after")],
    admission: [
      (call) => {
        seen.push("admission");
        if (call.headers.all("x-overload").length > 0) {
          throw new ServiceError("UNAVAILABLE", "too much to do", { retryAfterSeconds: 7 });
        }
      },
    ],
    authenticators: [badge],
    rawHandlers: [
      {
        path: "/pages",
        handle: ({ path, query }) => ({
          status: 203,
          headers: { "content-type": "text/plain" },
          body: `${path}?${query.get("a")}`,
        }),
      },
      {
        path: "/account",
        handle: (_, { principal }) => ({ status: 200, body: `of ${principal?.subjectId}` }),
      },
    ],
  });
  await shareDocument(vault.engine);
});

afterAll(() => vault.stop());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`http://127.0.0.1:${vault.http}${path}`, { headers, method, redirect: "manual" });

describe("the order of the chain [CHAIN-1]", () => {
  test("of an allowed call", async () => {
    seen.length = 0;
    const response = await get("/v1/documents/open", alice);
    expect(response.status).toBe(200);
    expect(seen).toEqual([
      "before 1: nobody yet, no request yet",
      "before 2: nobody yet, no request yet",
      "admission",
      "after: alice, a request",
      "after again",
      "before 2 again",
      "before 1 again",
    ]);
  });

  test.each([
    ["without a caller", {}, 401],
    ["denied", { "x-svc-external-sub": "bob" }, 403],
  ])("of a call that is %s: nothing after authorization runs", async (_, headers, status) => {
    seen.length = 0;
    expect((await get("/v1/documents/open", headers)).status).toBe(status);
    expect(seen).toEqual([
      "before 1: nobody yet, no request yet",
      "before 2: nobody yet, no request yet",
    ]);
  });

  test("admission refuses after authorization", async () => {
    const response = await get("/v1/documents/open", { ...alice, "x-overload": "1" });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await response.json()).toMatchObject({ code: "UNAVAILABLE", message: "too much to do" });
  });
});

describe("raw handlers", () => {
  test("serve a declared prefix, and all paths below it", async () => {
    for (const path of ["/pages", "/pages/deep/er"]) {
      const response = await get(`${path}?a=b`);
      expect([response.status, await response.text()]).toEqual([203, `${path}?b`]);
    }
  });

  test("have the exposure of their path", async () => {
    expect((await get("/account")).status).toBe(401);
    const response = await get("/account", alice);
    expect(await response.text()).toBe("of alice");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("have the methods of their path", async () => {
    expect((await get("/account", alice, "DELETE")).status).toBe(405);
    expect((await get("/account", alice, "POST")).status).toBe(200);
  });

  test("are logged with their own status", async () => {
    await get("/pages/logged");
    const lines = () => vault.lines.filter((line) => line.includes("/pages/logged"));
    await expect.poll(() => lines().length, { message: "the log has a line of the call" }).toBe(1);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ status: 203, code: "OK", rpc: "/pages" });
  });
});

describe("a further authenticator", () => {
  test("identifies, after the others", async () => {
    expect(await (await get("/v1/profile", { "x-badge": "carol" })).json()).toMatchObject({
      subjectId: "carol",
    });
    expect(await (await get("/v1/profile", { ...alice, "x-badge": "alice" })).json()).toMatchObject(
      {
        subjectId: "alice",
      },
    );
    expect((await get("/v1/profile", { ...alice, "x-badge": "carol" })).status).toBe(401);
  });

  test("refuses", async () => {
    expect((await get("/v1/profile", { "x-badge": "mallory" })).status).toBe(401);
  });

  test("with a cookie cannot be used from another site", async () => {
    const headers = { "x-badge": "carol", "sec-fetch-site": "cross-site" };
    expect((await get("/account", headers, "POST")).status).toBe(403);
    expect((await get("/account", headers)).status).toBe(200);
  });
});

test("a caller that exceeds the rate gets the time to wait and the limit [RATE-2]", async () => {
  const poll = () => get("/v1/documents/open:poll", alice);
  const answers = await Promise.all([poll(), poll(), poll(), poll()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  const [, , , last] = answers;
  const { headers } = last as Response;
  expect(headers.get("retry-after")).toBe("1");
  expect(headers.get("ratelimit-limit")).toBe("3");
  expect(headers.get("ratelimit-remaining")).toBe("0");
});
