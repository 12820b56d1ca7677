/** What fails in the service while `oidc-provider` handles a request: the response has the form of OAuth. */
import { Provider } from "oidc-provider";
import { DatabaseError } from "svc-access/database";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { DatabaseUnavailable } from "../../../src/ground/store/provider-database.ts";
import { Quota } from "../../../src/people/accounts/throttle/quota.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { Browser } from "../../support/browser.ts";
import {
  begin,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

const SECRET = "the secret host 10.0.0.1";

let iam: RunningProvider;
let configuration: Awaited<ReturnType<RunningProvider["configure"]>>;
beforeAll(async () => {
  iam = await startProvider();
  configuration = await iam.configure(CONSOLE);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(stopAll);

const FAILURES: readonly [string, Error, number, string, RegExp][] = [
  [
    "a database that is down",
    new DatabaseError("UNAVAILABLE", SECRET),
    503,
    "temporarily_unavailable",
    /^unavailable; the request is the-request$/,
  ],
  [
    "a defect",
    new TypeError(SECRET),
    500,
    "server_error",
    /^internal error; the request is the-request$/,
  ],
];

function post(path: string, parameters: Readonly<Record<string, string>>) {
  const basic = Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64");
  return fetch(`${iam.issuer}${path}`, {
    method: "POST",
    headers: { authorization: `Basic ${basic}`, "x-request-id": "the-request" },
    body: new URLSearchParams(parameters),
  });
}

/** The last line of a call. */
async function callLine(isMeant: (line: Readonly<Record<string, unknown>>) => boolean) {
  const found = () =>
    iam.server.logLines().findLast((line) => line["message"] === "call" && isMeant(line));
  await expect.poll(found, { message: "the call is in the log" }).toBeDefined();
  return found() as Readonly<Record<string, unknown>>;
}

test("a wrong password is UNAUTHORIZED in the log, and the bytes of the page are there", async () => {
  const browser = new Browser(iam.origin);
  const login = await browser.open((await begin(configuration)).url.href);
  const page = await enter(browser, login, { password: "wrong" });
  expect(page.status).toBe(401);
  expect(await callLine(({ status }) => status === 401)).toMatchObject({
    level: "info",
    code: "UNAUTHORIZED",
    response_bytes: Buffer.byteLength(page.text),
  });
});

test("a page of another origin may read that a response failed after it was made", async () => {
  const origin = "https://spa.example.com";
  const read = (path: string) => fetch(`${iam.issuer}${path}`, { headers: { origin } });
  const cors = ({ headers }: Response) =>
    ["access-control-allow-origin", "access-control-expose-headers", "vary"].map((name) =>
      headers.get(name),
    );
  const path = "/.well-known/openid-configuration";
  const whole = await read(path);
  expect([whole.status, cors(whole)[0]]).toEqual([200, origin]);
  vi.spyOn(Provider.prototype, "urlFor").mockImplementationOnce(() => {
    throw new TypeError(SECRET);
  });
  vi.spyOn(Provider.prototype, "emit").mockImplementationOnce(() => {
    throw new TypeError(SECRET);
  });
  const failed = await read(path);
  expect([failed.status, await failed.json()]).toMatchObject([500, { error: "server_error" }]);
  expect(cors(failed)).toEqual(cors(whole));
});

describe.each(FAILURES)("%s", (_, failure, status, error, description) => {
  test("is described to a client, with the request by which the log has it", async () => {
    const tokens = await logIn(configuration, new Browser(iam.origin));
    vi.spyOn(iam.accounts, "find").mockRejectedValue(failure);
    const grant_type = "refresh_token";
    const answer = await post("/token", { grant_type, refresh_token: tokens.refresh_token ?? "" });
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { error, error_description: expect.stringMatching(description) },
    ]);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(answer.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
    const isDefect = status === 500;
    expect(await callLine((line) => line["request_id"] === "the-request")).toMatchObject({
      level: isDefect ? "error" : "warn",
      code: isDefect ? "INTERNAL" : "UNAVAILABLE",
      status,
      response_bytes: Number(answer.headers.get("content-length")),
      error: { message: SECRET, ...(isDefect ? { stack: expect.stringContaining(SECRET) } : {}) },
    });
    expect(iam.logged).toEqual([]);
  });

  test("of the quota of revocations is described likewise, and ends no token", async () => {
    const tokens = await logIn(configuration, new Browser(iam.origin));
    vi.spyOn(Quota.prototype, "use").mockRejectedValue(failure);
    for (const token of [tokens.access_token, tokens.refresh_token ?? ""]) {
      const answer = await post("/token/revocation", { token });
      expect([answer.status, await answer.json()]).toMatchObject([status, { error }]);
      expect(answer.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
    }
    vi.restoreAllMocks();
    const introspected = await post("/token/introspection", { token: tokens.access_token });
    expect(await introspected.json()).toMatchObject({ active: true });
  });

  test("of what ends access tokens is described to a client that revokes its refresh token", async () => {
    const tokens = await logIn(configuration, new Browser(iam.origin));
    vi.spyOn(Revocations.prototype, "revoke").mockRejectedValue(failure);
    const answer = await post("/token/revocation", { token: tokens.refresh_token ?? "" });
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { error, error_description: expect.stringMatching(description) },
    ]);
    // Since they still count.
    expect(iam.logged).toContainEqual(
      expect.stringContaining("the access tokens of an ended login still count"),
    );
    iam.logged.length = 0;
  });

  test("of what ends a login is a page to the person who logs out", async () => {
    const browser = new Browser(iam.origin);
    await logIn(configuration, browser);
    const question = await browser.open(`${iam.issuer}/session/end`);
    vi.spyOn(iam.provider.sessions, "end").mockRejectedValue(failure);
    const page = await browser.submit(question, { logout: "yes" });
    expect(page.status).toBe(status);
    expect(page.text).toContain(`<code>${error}</code>`);
    expect(page.text).not.toContain("Logged out");
    expect(page.text).not.toContain(SECRET);
    iam.logged.length = 0;
  });

  test("is a page to a person, which has the number of the request", async () => {
    vi.spyOn(iam.provider.sessions, "save").mockRejectedValue(
      failure instanceof DatabaseError ? new DatabaseUnavailable("UNAVAILABLE", SECRET) : failure,
    );
    const browser = new Browser(iam.origin);
    const page = await enter(browser, await browser.open((await begin(configuration)).url.href));
    expect([page.status, page.url]).toEqual([status, expect.stringContaining(iam.origin)]);
    expect(page.text).toContain(`<code>${error}</code>`);
    expect(page.headers?.get("retry-after")).toBe(status === 503 ? "1" : null);
    expect(page.text).toMatch(/Request: <code>[\w-]+<\/code>/);
    expect(page.text).not.toContain(SECRET);
    const line = await callLine((one) => one["status"] === status);
    expect(line["response_bytes"]).toBe(Buffer.byteLength(page.text));
    expect(JSON.stringify(line["error"])).toContain(SECRET);
  });
});
