/** Other HTTP methods at the paths of AuthZEN: the refusal has the form of its errors. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS_HUB, type IamService, startIam } from "../support/iam-service.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startIam();
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
