/** Paths that two programs interpret differently, and requests without a call. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "./support/alice.ts";
import { type Field, headerOf, requestText, sendText } from "./support/raw-http.ts";
import { expectErrorBody, startWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ mode: "gateway_trusted" });
});
afterAll(() => world.stop());
beforeEach(() => void (world.handled.length = 0));

/** The responses, and the handled RPCs, each with its caller. */
async function ask(line: string, fields: readonly Field[], from: "trusted" | "stranger") {
  const text = requestText(line, fields);
  const [response, ...others] = await sendText(world.port("http", from), text);
  expect(others).toEqual([]);
  if (response !== undefined && response.status >= 400 && !line.startsWith("HEAD")) {
    expectErrorBody(response.body, response.status, headerOf(response, "x-request-id"));
  }
  const handled = world.handled.map(
    ({ rpc, principal }) => `${rpc} ${principal?.subjectId ?? "-"}`,
  );
  return { response, status: response?.status, handled };
}

describe("36 paths of alice that match no route", () => {
  test.each([
    ["36 a dot segment", "/v1/notices/../profile", 400],
    ["36 a dot segment that leads to itself", "/v1/./profile", 400],
    ["36 encoded dots", "/v1/notices/%2e%2e/profile", 400],
    ["36 half encoded dots", "/v1/notices/.%2E/profile", 400],
    ["36 dots and an encoded slash", "/v1/notices/..%2fprofile", 400],
    ["36 an encoded backslash", "/v1/notices/..%5cprofile", 400],
    ["36 a double slash in front", "//v1/profile", 400],
    ["36 a double slash", "/v1//profile", 400],
    ["36 a slash after", "/v1/profile/", 404],
    ["36 a NUL", "/v1/profile%00", 400],
    ["36 a NUL before a suffix", "/v1/profile%00.html", 400],
    ["36 a line break", "/v1/profile%0d%0aX-Svc-User-Id:%20admin", 400],
    ["36 a path parameter", "/v1/profile;x=1", 404],
    ["36 a path parameter in front", "/v1;x/profile", 404],
    ["36 dots with a path parameter", "/v1/notices/..;/profile", 404],
    ["36 an encoded letter", "/v1/%70rofile", 404],
    ["36 an encoded slash", "/v1%2fprofile", 404],
    ["36 letter case", "/V1/Profile", 404],
    ["36 an encoded question mark", "/v1/profile%3Fx", 404],
    ["36 a fragment", "/v1/profile#x", 400],
    ["36 overlong UTF-8", "/v1/%c0%ae%c0%ae/profile", 400],
    ["36 a surrogate", "/v1/notices/%ed%a0%80", 400],
    ["36 the method in the path", "/GET /v1/profile", 400],
    ["37 no slash in front", "v1/profile", 400],
    ["37 another host", "http://evil/v1/profile", 400],
    ["37 this host by another scheme", "https://vault/v1/profile", 400],
    ["37 an authority", "vault:80", 400],
    ["36 an internal RPC with its verb encoded", "/v1/documents%3Areconcile", 404],
  ] as const)("%s", async (_title, target, status) => {
    const got = await ask(`GET ${target}`, ALICE, "trusted");
    expect(got).toMatchObject({ status, handled: [] });
  });

  test("37 this host in absolute form is the path alone", async () => {
    const got = await ask("GET http://vault/v1/profile", ALICE, "trusted");
    expect(got).toMatchObject({ status: 200, handled: ["GetProfile alice"] });
  });
});

describe("36 the policy of the matched route is enforced", () => {
  test.each([
    ["36 a public path that ends like a protected one", "/v1/notices/profile", "GetNotice -"],
    ["36 an id that looks like a path", "/v1/notices/x%2fprofile", "GetNotice -"],
    ["36 an id with a parameter", "/v1/notices/..;x", "GetNotice -"],
    ["36 an id with an encoded verb", "/v1/notices/n%3Apoll", "GetNotice -"],
  ] as const)("%s", async (_title, target, handled) => {
    expect(await ask(`GET ${target}`, [], "stranger")).toMatchObject({ handled: [handled] });
  });

  test.each([
    ["36 a verb is a separate route", "GET", "/v1/documents/open:poll", "PollDocument alice"],
    ["36 an encoded verb is a part of the id", "GET", "/v1/documents/open%3Apoll", 403],
    ["36 an unknown verb is a part of the id", "GET", "/v1/documents/open:x", 403],
    ["36 two verbs", "GET", "/v1/documents/open:x:poll", 403],
    ["36 a verb in other case", "GET", "/v1/documents/open:POLL", 403],
    ["36 a verb of an INTERNAL RPC", "POST", "/v1/documents:reconcile", 403],
    ["36 the same as a document", "GET", "/v1/documents/x:reconcile", 403],
    ["36 an id with an encoded star", "GET", "/v1/documents/%2A", 400],
    ["36 an id with an encoded #", "GET", "/v1/documents/open%23viewer", 400],
    ["36 an id with a space after", "GET", "/v1/documents/open%20", 400],
    ["36 an id with a colon is one object", "GET", "/v1/documents/document%3Aopen", 403],
    ["36 an id that is encoded twice", "GET", "/v1/documents/%256Fpen", 403],
    ["36 an id that is encoded once is the id", "GET", "/v1/documents/%6Fpen", "GetDocument alice"],
    ["36 a NUL after the id", "GET", "/v1/documents/open%00", 400],
    ["36 a dot segment as the id", "GET", "/v1/documents/%2e", 400],
    ["36 no id", "GET", "/v1/documents/", 404],
    ["36 full-width letters are another id", "GET", "/v1/documents/%EF%BD%8Fpen", 403],
    ["36 letter case is another id", "GET", "/v1/documents/Open", 403],
    ["36 a zero-width space is another id", "GET", "/v1/documents/open%E2%80%8B", 403],
  ] as const)("%s", async (_title, method, target, expected) => {
    const got = await ask(`${method} ${target}`, ALICE, "trusted");
    const wanted =
      typeof expected === "number"
        ? { status: expected, handled: [] }
        : { status: 200, handled: [expected] };
    expect(got).toMatchObject(wanted);
  });

  test("36 no spelling of a protected path is served without credentials", async () => {
    const spellings = [
      "/v1/profile",
      "/v1/documents/open",
      "/v1/documents",
      "/v1/documents/open:poll",
    ];
    const changes: ((path: string) => string)[] = [
      (path) => path,
      (path) => `${path}?x-svc-user-id=alice`,
      (path) => `${path}/`,
      (path) => `/healthz/..${path}`,
      (path) => `/healthz%2f..${path}`,
      (path) => `/healthz;${path}`,
      (path) => `/${path}`,
      (path) => path.replace("/v1/", "/v1/notices/../"),
      (path) => path.replace("/v1/", "/v1/notices/..;/"),
      (path) => path.replace("/v1/", "/v1/%2e/"),
      (path) => path.toUpperCase(),
      (path) => path.replaceAll("o", "%6f"),
      (path) => path.replace(":", "%3A"),
      (path) => `${path}.json`,
      (path) => `${path}%20`,
    ];
    for (const path of spellings) {
      for (const change of changes) {
        const { status, handled } = await ask(`GET ${change(path)}`, [], "stranger");
        expect({ path: change(path), status, handled }).toMatchObject({ handled: [] });
        expect([400, 401, 404]).toContain(status);
      }
    }
  });
});

describe("8 forged headers without required credentials", () => {
  const forged: readonly Field[] = [...ALICE, ["X-Svc-Roles", "admin"], ["X-Svc-Subject", "alice"]];

  test("8 the PUBLIC RPC is served without a caller, and does not see them [EXP-1]", async () => {
    const { handled } = await ask("GET /v1/notices/n", forged, "stranger");
    expect(handled).toEqual(["GetNotice -"]);
    const { headers } = world.handled[0]?.context as unknown as { headers: { names(): string[] } };
    expect([...headers.names()].filter((name) => name.startsWith("x-svc-"))).toEqual([]);
  });

  test.each(["/healthz", "/readyz"])("8 %s responds the same to every caller", async (path) => {
    const plain = await ask(`GET ${path}`, [], "stranger");
    const other = await ask(`GET ${path}`, [...forged, ["Authorization", "Bearer x"]], "stranger");
    expect(plain.status).toBe(200);
    expect(other.response?.body).toBe(plain.response?.body);
    expect(other.handled).toEqual([]);
  });

  test.each([
    ["8 OPTIONS of a protected path", "OPTIONS /v1/profile", 204],
    ["8 OPTIONS of an internal path", "OPTIONS /v1/documents:reconcile", 204],
    ["8 OPTIONS *", "OPTIONS *", 204],
    ["8 OPTIONS of no path", "OPTIONS /v1/nothing", 404],
  ] as const)("%s runs nothing", async (_title, line, status) => {
    expect(await ask(line, forged, "trusted")).toMatchObject({ status, handled: [] });
  });

  test.each([
    ["8, 12 a method in a header", "POST /v1/profile", "X-Http-Method-Override", "GET"],
    ["8, 12 a method in another header", "POST /v1/documents/open", "X-Method-Override", "GET"],
    ["8, 12 a method in a third header", "GET /v1/documents:reset", "X-Http-Method", "POST"],
  ] as const)("%s is not looked at", async (_title, line, name, value) => {
    const { status, handled } = await ask(line, [...ALICE, [name, value]], "trusted");
    expect(handled).toEqual([]);
    expect(status).toBe(405);
  });

  test("8 HEAD requires the same as GET, and gets no more", async () => {
    const refused = await ask("HEAD /v1/documents/closed", ALICE, "trusted");
    expect(refused.status).toBe(403);
    expect((await ask("HEAD /v1/profile", [], "stranger")).status).toBe(401);
  });
});
