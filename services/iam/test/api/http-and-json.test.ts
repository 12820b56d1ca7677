/** What the guide says of HTTP and JSON ("The API over HTTP"), asked of a running service. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, type IamService, startIam } from "../support/iam-service.ts";
import { relate } from "../support/passwords.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startIam();
  await relate(iam, "owner", "root");
});
afterAll(() => iam.stop());

const JSON_TYPE = { "Content-Type": "application/json" };

/** The status and the text of the response to a request whose path is sent as it is. */
function send(
  method: string,
  path: string,
  { headers = {}, body = "" }: { headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(iam.origin);
    const all = { ...asUser("root"), ...headers };
    const sent = request({ host: hostname, port, method, path, headers: all }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const patch = (path: string, body: object) =>
  send("PATCH", path, { headers: JSON_TYPE, body: JSON.stringify(body) });

test.each([
  ["GET", "/v1/iam/me?colour=red", "", 'the parameter "colour" is not known'],
  ["PATCH", "/v1/iam/me", '{"colour":"red"}', 'the field "user.colour" is not known'],
  ["PATCH", "/v1/iam/me", '{"name":"a","name":"b"}', "a key occurs twice"],
  ["GET", "/v1/iam/audit/events?page_size=1&page_size=2", "", "is given twice"],
  ["GET", "/v1/iam/audit/events?page_size=501", "", "page_size must be 0 to 500"],
  ["GET", "/v1/iam/audit/events?page_size=-1", "", "page_size must be 0 to 500"],
  ["PATCH", "/v1/iam/me?update_mask=*", '{"name":"a"}', "update_mask"],
  ["PATCH", "/v1/iam/me?update_mask=email", '{"name":"a"}', 'update_mask has "email"'],
  [
    "PATCH",
    "/v1/iam/me/preferences",
    '{"timeZone":"UTC","time_zone":"UTC"}',
    "cannot both be given",
  ],
])("%s %s %s is refused with 400", async (method, path, body, message) => {
  const response = await send(method, path, body === "" ? {} : { headers: JSON_TYPE, body });
  expect([response.status, response.text]).toEqual([400, expect.anything()]);
  expect(JSON.parse(response.text)).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(JSON.parse(response.text).message).toContain(message);
});

test("names have either form in requests, and camelCase in responses", async () => {
  for (const [mask, zone, body] of [
    ["update_mask=time_zone,theme", "Asia/Tokyo", { time_zone: "Asia/Tokyo", theme: "THEME_DARK" }],
    ["updateMask=timeZone,theme", "Asia/Seoul", { timeZone: "Asia/Seoul", theme: "THEME_DARK" }],
    ["updateMask=time_zone,theme", "UTC", { timeZone: "UTC", theme: "THEME_LIGHT" }],
  ] as const) {
    const { status, text } = await patch(`/v1/iam/me/preferences?${mask}`, body);
    expect([status, text]).toEqual([200, expect.anything()]);
    expect(JSON.parse(text)).toMatchObject({ timeZone: zone });
  }
});

test("a field of the mask that the body does not have is emptied, one beside the mask is kept", async () => {
  await patch("/v1/iam/me/preferences", { language: "de", timeZone: "Asia/Tokyo" });
  const { text } = await patch("/v1/iam/me/preferences?update_mask=language", {
    timeZone: "Asia/Seoul",
  });
  expect(JSON.parse(text)).toMatchObject({ language: "en", timeZone: "Asia/Tokyo" });
});

test("bodies are not compressed, in neither direction", async () => {
  const headers = { ...JSON_TYPE, "Content-Encoding": "gzip" };
  expect((await send("PATCH", "/v1/iam/me", { headers, body: "{}" })).status).toBe(415);
  const large = { text: "x".repeat(8192) };
  expect((await patch("/v1/iam/me/preferences", { settings: large })).status).toBe(200);
  const read = await send("GET", "/v1/iam/me/preferences", {
    headers: { "Accept-Encoding": "gzip, br" },
  });
  expect([read.status, read.headers["content-encoding"]]).toEqual([200, undefined]);
  expect(JSON.parse(read.text)).toMatchObject({ settings: large });
});

test.each([
  ["a body without a type", {}, "{}", 415],
  ["a body of another type", { "Content-Type": "text/plain" }, "{}", 415],
  ["a body that is no JSON", JSON_TYPE, "{", 400],
])("%s is refused", async (_, headers, body, status) => {
  expect((await send("PATCH", "/v1/iam/me", { headers, body })).status).toBe(status);
});

test.each([
  ["/v1/iam/me", 200],
  ["/v1/iam/me/", 404],
  ["/v1/iam//me", 400],
  ["/v1/iam/./me", 400],
  ["/v1/iam/x/../me", 400],
  ["/v1/iam/ME", 404],
  ["/v1/iam/%6de", 404],
])("the path %s is compared as it is sent", async (path, status) => {
  expect((await send("GET", path)).status).toBe(status);
});
