import { connect } from "node:http2";
import { DatabaseError } from "svc-access/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { stackDatabase } from "../../support/databases.ts";
import {
  basicOf,
  begin,
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

let iam: RunningProvider;
beforeAll(async () => {
  iam = await startProvider();
});
afterAll(stopAll);

/** Requests a path over HTTP/2 without TLS, as a gateway does. */
async function http2(path: string, body?: string) {
  const session = connect(iam.origin);
  const stream = session.request({
    ":path": `/v1/iam/oidc${path}`,
    ":method": body === undefined ? "GET" : "POST",
    authorization: basicOf(CONSOLE),
    ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
  });
  stream.end(body);
  let status = 0;
  stream.on("response", (headers) => {
    status = headers[":status"] ?? 0;
  });
  let text = "";
  for await (const chunk of stream) text += chunk;
  session.close();
  return { status, text };
}

test("HTTP/2 is answered as HTTP/1 is", async () => {
  const response = await fetch(`${iam.issuer}/jwks`);
  expect(await http2("/jwks")).toEqual({ status: 200, text: await response.text() });
  const tokens = await logIn(await iam.configure(CONSOLE), new Browser(iam.origin));
  const introspected = await http2("/token/introspection", `token=${tokens.access_token}`);
  expect([introspected.status, JSON.parse(introspected.text).active]).toEqual([200, true]);
  const refreshed = await http2(
    "/token",
    `grant_type=refresh_token&refresh_token=${tokens.refresh_token}`,
  );
  expect([refreshed.status, Object.keys(JSON.parse(refreshed.text))]).toMatchObject([
    200,
    expect.arrayContaining(["access_token", "refresh_token", "id_token"]),
  ]);
});

test("a connection serves many requests, with and without bodies", async () => {
  const configuration = await iam.configure(CONSOLE);
  for (let count = 0; count < 5; count++) await logIn(configuration, new Browser(iam.origin));
});

test("a path that the provider does not have is not found", async () => {
  for (const path of [
    "",
    "/",
    "/nothing",
    "/me",
    "/reg",
    "/request",
    "/interaction/",
    "/../users",
  ]) {
    const response = await fetch(`${iam.issuer}${path}`, { redirect: "manual" });
    expect([path, response.status]).toEqual([path, expect.toSatisfy((s) => s >= 400 && s < 500)]);
  }
});

test("while the database fails, requests are answered 503, and say nothing of it", async () => {
  const at = await stackDatabase();
  const opened = at.open();
  let isDown = false;
  const database = new Proxy(opened, {
    get(target, name) {
      if (isDown && (name === "kysely" || name === "inTransaction")) throw down();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const failing = await startProvider({ at, database });
  const configuration = await failing.configure(CONSOLE);
  const tokens = await logIn(configuration, new Browser(failing.origin));
  const begun = await begin(configuration);
  isDown = true;
  const headers = {
    authorization: basicOf(CONSOLE),
  };
  const post = (path: string, parameters: Record<string, string>) =>
    fetch(`${failing.issuer}${path}`, {
      method: "POST",
      headers,
      body: new URLSearchParams(parameters),
    });
  const answers = [
    await fetch(begun.url, { headers: { cookie: "iam_session=x" } }),
    await post("/token", {
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token ?? "",
    }),
    await post("/token/introspection", { token: tokens.access_token }),
    await post("/token/revocation", { token: tokens.refresh_token ?? "" }),
    await fetch(`${failing.issuer}/interaction/x`, { headers: { cookie: "iam_interaction=x" } }),
  ];
  for (const answer of answers) {
    const text = await answer.text();
    expect([answer.url, answer.status]).toEqual([answer.url, 503]);
    expect(text).not.toMatch(/secret-host|stack|at /);
  }
  isDown = false;
  expect((await fetch(`${failing.issuer}/jwks`)).status).toBe(200);
  await failing.stop();
});

function down(): Error {
  return new DatabaseError("UNAVAILABLE", "no connection to secret-host");
}
