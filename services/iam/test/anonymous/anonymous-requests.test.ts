/** What somebody without a login can make the service store, over real connections. */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import routes from "../../gen/routes/iam.json" with { type: "json" };
import { PROVIDER_PATH } from "../../src/config/provider-paths.ts";
import { ENDPOINT_METHODS } from "../../src/provider/embedded/request/endpoints.ts";
import { Browser } from "../support/browser.ts";
import { startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import {
  ANONYMOUS_REQUESTS,
  type AnonymousRequest,
  DEVICE,
  DOCUMENT,
  LOGIN,
  TV,
} from "./anonymous-requests.ts";
import { storedRows } from "./stored-rows.ts";

let service: IamService;
beforeAll(async () => {
  const tv = { id: TV, name: "TV", flows: ["device"] };
  service = await startSelf({ iam: { clients: [tv] } });
  return () => service.stop();
});
afterEach(() => void vi.restoreAllMocks());

const NAMES = ["iam_session", "iam_resume", "iam_interaction", "iam_browser", "__Host-iam_login"];
const MADE_UP = NAMES.map((name) => `${name}=${"x".repeat(43)}`).join("; ");

function send(
  { to, query, form, json }: Pick<AnonymousRequest, "to" | "query" | "form" | "json">,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const [method = "", path = ""] = to.split(" ");
  const url = new URL(path, service.origin);
  url.search = new URLSearchParams(query).toString();
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const body = form === undefined ? JSON.stringify(json) : new URLSearchParams(form);
  return fetch(url, {
    method,
    redirect: "manual",
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** The rows that a request adds, with its status. */
async function storedBy(...request: Parameters<typeof send>) {
  const before = await storedRows(service);
  const response = await send(...request);
  await response.arrayBuffer();
  const after = await storedRows(service);
  const rows = [...after].filter(([text]) => !before.has(text)).map(([, row]) => row);
  return { status: response.status, rows };
}

describe.each([
  ["without cookies", {}],
  ["with made-up cookies", { cookie: MADE_UP }],
])("%s", (_, headers) => {
  test.each(ANONYMOUS_REQUESTS.map((request) => [request.to, request] as const))(
    "%s stores no more than it must",
    async (_to, request) => {
      const { rows: most = {}, bytes = 0, seconds = 0 } = request;
      const { status, rows } = await storedBy(request, headers);
      const expected = "cookie" in headers ? request.statusWithCookies : undefined;
      expect(status).toBe(expected ?? request.status);
      const documents = rows.filter(({ table }) => table === DOCUMENT);
      expect(documents.length).toBe(most[DOCUMENT] ?? 0);
      for (const row of rows) {
        const { table } = row;
        expect(rows.filter((one) => one.table === table).length, table).toBeLessThanOrEqual(
          most[table] ?? 0,
        );
        expect(row.bytes, table).toBeLessThanOrEqual(bytes);
        if (table === DOCUMENT) expect(row.seconds).toBeLessThanOrEqual(seconds);
      }
    },
  );
});

test("the table has all that anybody can reach", () => {
  const served = [
    ...routes.routes
      .filter(({ entry }) => entry.exposure === "PUBLIC")
      .flatMap(({ entry }) => entry.http.map(({ method, path }) => `${method} ${path}`)),
    ...routes.paths
      .filter(({ match, path }) => match === "exact" && !path.startsWith(PROVIDER_PATH))
      .flatMap(({ methods, path }) =>
        (methods.includes("*") ? ["GET", "POST"] : methods).map((method) => `${method} ${path}`),
      ),
    ...[...ENDPOINT_METHODS].flatMap(([path, methods]) =>
      methods
        .filter((method) => method !== "HEAD")
        .map((method) => `${method} ${PROVIDER_PATH}${path}`),
    ),
  ];
  const known = new Set(ANONYMOUS_REQUESTS.map(({ to }) => to));
  expect(served.filter((one) => !known.has(one))).toEqual([]);
  const prefixes = routes.paths.filter(({ match }) => match === "prefix");
  for (const { path } of prefixes) {
    expect(
      [...known].filter((to) => to.includes(` ${path}`)),
      path,
    ).not.toEqual([]);
  }
});

test("all RPCs that need a caller store nothing without one", async () => {
  const bindings = routes.routes
    .filter(({ entry }) => entry.exposure !== "PUBLIC")
    .flatMap(({ entry }) => ("http" in entry ? entry.http : []));
  expect(bindings.length).toBeGreaterThan(50);
  const before = await storedRows(service);
  for (const { method, path } of bindings) {
    const to = `${method} ${path.replaceAll(/\{[^}]*\}/g, "x")}`;
    const response = await send({ to, ...(method === "GET" ? {} : { json: {} }) });
    expect([to, response.status]).toEqual([to, 401]);
  }
  expect([...(await storedRows(service)).keys()].filter((text) => !before.has(text))).toEqual([]);
});

test("a login that is continued again and again without a password is stored once", async () => {
  const before = await storedRows(service);
  const browser = new Browser(service.origin);
  const start = `${service.origin}${PROVIDER_PATH}/auth?${new URLSearchParams(LOGIN)}`;
  let page = await browser.open(start);
  for (let times = 0; times < 3; times++) {
    const { url } = page;
    page = await browser.open(url.replace("/interaction/", "/auth/"));
    expect(page.text).toContain('name="password"');
    expect(page.url).not.toBe(url);
    const after = await storedRows(service);
    const added = [...after].filter(([text]) => !before.has(text)).map(([, row]) => row);
    expect(added.map(({ table }) => table)).toEqual([DOCUMENT]);
    expect(added[0]?.bytes).toBeLessThan(12_000);
  }
});

describe("a parameter that is too long is an error of OAuth, and stores nothing", () => {
  const auth = `GET ${PROVIDER_PATH}/auth`;
  const end = `GET ${PROVIDER_PATH}/session/end`;
  const device = `POST ${PROVIDER_PATH}/device/auth`;
  const short = { ...LOGIN, state: "s", nonce: "n" };
  const cases: [what: string, AnonymousRequest][] = [
    ...["nonce", "login_hint", "ui_locales", "acr_values", "display", "prompt", "max_age"].map(
      (name): [string, AnonymousRequest] => [
        name,
        { to: auth, query: { ...short, [name]: "x".repeat(513) }, status: 400 },
      ],
    ),
    ["state", { to: auth, query: { ...short, state: "s".repeat(4097) }, status: 400 }],
    ["scope", { to: auth, query: { ...short, scope: "openid ".repeat(150) }, status: 400 }],
    [
      "redirect_uri",
      { to: auth, query: { ...short, redirect_uri: "x".repeat(2049) }, status: 400 },
    ],
    ["state in UTF-8", { to: end, query: { state: "ä".repeat(2049) }, status: 400 }],
    [
      "all together",
      { to: auth, query: { ...LOGIN, redirect_uri: "x".repeat(2048) }, status: 400 },
    ],
    ["nonce of a device", { to: device, form: { ...DEVICE, nonce: "n".repeat(513) }, status: 400 }],
    [
      "a body of a device",
      { to: device, form: { ...DEVICE, x: "x".repeat(5_000_000) }, status: 413 },
    ],
  ];
  test.each(cases)("%s", async (_, request) => {
    const before = await storedRows(service);
    const response = await send(request);
    expect(response.status).toBe(request.status);
    expect(await response.json()).toMatchObject({ error: "invalid_request" });
    expect([...(await storedRows(service)).keys()].filter((text) => !before.has(text))).toEqual([]);
  });
});

describe("rate limits", () => {
  test("all paths have one, but those for services with a token", () => {
    const without = routes.paths.filter((path) => !("rateLimit" in path)).map(({ path }) => path);
    expect(without).toEqual(["/access/v1/evaluation", "/access/v1/evaluations"]);
  });

  test.each([
    [`GET ${PROVIDER_PATH}/session/end`, 200],
    [`GET ${PROVIDER_PATH}/auth`, 200],
    [`POST ${PROVIDER_PATH}/token`, 2000],
  ])("%s is refused after %i at once, in the form of OAuth", async (to, burst) => {
    // No time passes, however slow the machine is.
    const now = performance.now() + 3_600_000;
    vi.spyOn(performance, "now").mockReturnValue(now);
    const request = { to, ...(to.startsWith("POST") ? { form: {} } : {}) };
    for (let sent = 0; sent < burst; sent += 50) {
      const some = await Promise.all(Array.from({ length: 50 }, () => send(request)));
      expect(some.map(({ status }) => status)).not.toContain(429);
      await Promise.all(some.map((response) => response.arrayBuffer()));
    }
    const refused = await send(request);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
  });
});
