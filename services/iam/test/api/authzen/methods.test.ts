/** Refusals at the paths of AuthZEN that its handlers do not decide: they have the form of its errors. */
import { AuthzError } from "svc-access/authz";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AS_HUB, type IamService, startIam } from "../../support/iam-service.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startIam({ iam: { services: { hub: { read_types: ["*"] } } } });
});
afterAll(() => iam.stop());

const METADATA = "/.well-known/authzen-configuration";
const send = (method: string, path: string) =>
  fetch(`${iam.origin}${path}`, { method, headers: { ...AS_HUB, "X-Request-ID": "mine {1}" } });

const EVALUATIONS = ["/access/v1/evaluation", "/access/v1/evaluations"];
test.each([
  ...EVALUATIONS.flatMap((path) =>
    ["GET", "PUT", "PATCH", "DELETE"].map((method) => [method, path, "POST"] as const),
  ),
  ...["POST", "PUT", "DELETE"].map((method) => [method, METADATA, "GET, HEAD"] as const),
])("%s %s is refused with a text [AZEN-1]", async (method, path, allowed) => {
  const response = await send(method, path);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(`${allowed}, OPTIONS`);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(response.headers.get("x-request-id")).toBe("mine {1}");
  expect(await response.text()).toBe(`only ${allowed} is allowed`);
});

test("HEAD has the headers of the metadata, and OPTIONS the methods", async () => {
  const head = await send("HEAD", METADATA);
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(head.headers.get("content-type")).toBe("application/json");
  for (const [path, allowed] of [
    [METADATA, "GET, HEAD"],
    ["/access/v1/evaluation", "POST"],
  ] as const) {
    const options = await send("OPTIONS", path);
    expect([options.status, options.headers.get("allow")]).toEqual([204, `${allowed}, OPTIONS`]);
  }
});

test.each<[string, string, Record<string, string>, number, RegExp]>([
  [
    "a variant of an identity header",
    "/access/v1/evaluation",
    { x_svc_user_id: "alice" },
    400,
    /x_svc_user_id/,
  ],
  ["the same", METADATA, { x_svc_user_id: "alice" }, 400, /x_svc_user_id/],
  ["a compressed body", "/access/v1/evaluations", { "content-encoding": "gzip" }, 415, /./],
  ["no token", "/access/v1/evaluation", { "X-Svc-Internal-Token": "" }, 401, /internal token/],
])("%s at %s is a text too [AZEN-1]", async (_, path, headers, status, message) => {
  const response = await fetch(`${iam.origin}${path}`, {
    method: "POST",
    body: "{}",
    headers: {
      ...AS_HUB,
      "content-type": "application/json",
      "X-Request-ID": "mine {1}",
      ...headers,
    },
  });
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-request-id")).toBe("mine {1}");
  expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  expect(await response.text()).toMatch(message);
});

test.each<[string, Error, number, string]>([
  ["a defect", new TypeError("secret of the engine"), 500, "internal error"],
  [
    "an engine that has cancelled",
    new AuthzError("CANCELLED", "the call was cancelled"),
    499,
    "the call was cancelled",
  ],
  [
    "an engine that is down",
    new AuthzError("UNAVAILABLE", "secret of the engine"),
    503,
    "no decision was made",
  ],
])(
  "%s is a text too, which says nothing of the engine [AZEN-1]",
  async (_, error, status, message) => {
    const engine = iam.options.engine as NonNullable<typeof iam.options.engine>;
    const failing = vi.spyOn(engine, "checkBulk").mockRejectedValue(error);
    const entity = { type: "project", id: "x" };
    const response = await fetch(`${iam.origin}/access/v1/evaluation`, {
      method: "POST",
      body: JSON.stringify({ subject: entity, action: { name: "view" }, resource: entity }),
      headers: { ...AS_HUB, "content-type": "application/json", "X-Request-ID": "mine {1}" },
    });
    failing.mockRestore();
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(response.headers.get("x-request-id")).toBe("mine {1}");
    expect(await response.text()).toBe(message);
  },
);
