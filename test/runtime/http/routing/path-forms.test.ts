import { toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Call } from "../../../../src/runtime/call/call.ts";
import { sendRaw, statusOf } from "../support.ts";
import {
  type PathRequest,
  PathRequestSchema,
} from "../unusual-protos/gen/unusual/paths/v1/paths_pb.ts";
import { bindPathService } from "../unusual-protos/gen/unusual/paths/v1/paths_server.ts";
import { startUnusual, type UnusualServer } from "../unusual-protos/unusual-server.ts";

let server: UnusualServer;

beforeAll(async () => {
  server = await startUnusual([bindPathService]);
});
beforeEach(() => {
  server.seen.length = 0;
});
afterAll(() => server.stop());

/** What came of a request: its status, and the RPC with the request that it got. */
async function ask(line: string): Promise<string> {
  const response = await sendRaw(
    server.http,
    `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  const [call] = server.seen;
  if (call === undefined) return String(statusOf(response));
  const request = JSON.stringify(toJson(PathRequestSchema, call.request as PathRequest));
  return `${statusOf(response)} ${call.rpc.slice(call.rpc.indexOf("/") + 1)} ${request}`;
}

it.each([
  ["GET /v1/projects/a/locations", "404"],
  ["GET /v1/projects/a/locations/", "404"],
  ["GET /v1/projects//locations/b", "400"],
  ["GET /v1/projects/a/locations/b/c", "404"],
  ["GET /v1/Projects/a/locations/b", "404"],
  ["POST /v1/projects/a/locations/b", "405"],
  ["POST /v1/operations/a%3Acancel", "404"],
  ["POST /v1/operations/a:cancel/", "404"],
  ["POST /v1/operations/a:Cancel", "404"],
  ["GET /v1/operations/a:cancel", "405"],
  ["GET /v1/nested/x/of/b/y/5", "404"],
  ["GET /v1/nested/x/of/a/y/five", "400"],
  ["GET /v1/nested/x/of/a/y/05", "400"],
  ["GET /v1/unnamed/a/y", "404"],
  ["GET /v1/a b/n/~tilde/$x,y;z@w", "400"],
  ["GET /v1/a%20b/n/%7Etilde/$x,y;z@w", "404"],
  ["GET /v1/head/a", "405"],
  ["HEAD /v1/options/a", "405"],
  ["get /v1/things/a", "400"],
  ["BREW /v1/whatever/a", "400"],
])("%s is %s", async (line, expected) => {
  expect(await ask(line)).toBe(expected);
});

it.each([
  ["GET /v1/projects/a/locations/b", '200 Several {"name":"projects/a/locations/b"}'],
  ["GET /v1/projects/a%2Fb/locations/c%20d", '200 Several {"name":"projects/a%2Fb/locations/c d"}'],
  ["GET /v1/projects/p/locations/l:cancel", '200 Several {"name":"projects/p/locations/l:cancel"}'],
  ["GET /v1/folders/%C3%BC", '200 Several {"name":"folders/ü"}'],
  ["GET /v1/organizations/a", '200 Several {"name":"organizations/a"}'],
  ["GET /v1/organizations/a/b/c%2fd", '200 Several {"name":"organizations/a/b/c%2fd"}'],
  ["REPORT /v1/reports/a", '200 Several {"name":"reports/a"}'],
  ["POST /v1/operations/a/b:cancel", '200 Cancel {"name":"operations/a/b"}'],
  ["POST /v1/operations/a:b:cancel", '200 Cancel {"name":"operations/a:b"}'],
  ["POST /v1/projects/p/locations/l:cancel", '200 Cancel {"name":"projects/p/locations/l"}'],
  [
    "GET /v1/nested/x%2Fy/of/a/z/-5",
    '200 Nested {"number":"-5","inner":{"name":"x/y","inner":{"name":"a/z"}}}',
  ],
  ["GET /v1/things/special", "200 Literal {}"],
  ["GET /v1/things/%73pecial", '200 Single {"name":"special"}'],
  ["GET /v1/things/Special", '200 Single {"name":"Special"}'],
  ["GET /v1/things/special/", '200 Rest {"name":"special/"}'],
  ["GET /v1/things", "200 Rest {}"],
  ["GET /v1/things/a/b", '200 Rest {"name":"a/b"}'],
  ["GET /v1/unnamed/a/x", "200 Unnamed {}"],
  ["GET /v1/unnamed/a/x/b/c", "200 Unnamed {}"],
  ["GET /v1/a%20b/n/~tilde/$x,y;z@w", '200 Escaped {"name":"n"}'],
  ["HEAD /v1/head/a", '200 Head {"name":"a"}'],
  ["HEAD /v1/things/special", "200 Literal {}"],
  ["OPTIONS /v1/options/a", '200 Options {"name":"a"}'],
  ["PROPFIND /v1/whatever/a", '200 Whatever {"name":"a"}'],
])("%s is %s", async (line, expected) => {
  expect(await ask(line)).toBe(expected);
});

it.each([
  ["/v1/things/special", "GET, HEAD, OPTIONS"],
  ["/v1/head/a", "HEAD, OPTIONS"],
  ["/v1/reports/a", "OPTIONS, REPORT"],
])("OPTIONS %s allows %s", async (path, allowed) => {
  const response = await sendRaw(server.http, `OPTIONS ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(response).toContain(`Allow: ${allowed}\r\n`);
  expect(statusOf(response)).toBe(204);
});

it.each([
  ["GET /v1/projects/a/locations/b", "/v1/{name=projects/*/locations/*}"],
  ["GET /v1/organizations/a", "/v1/{name=organizations/*/**}"],
  ["REPORT /v1/reports/a", "/v1/{name=reports/*}"],
])("%s came by the template %s, which traces name", async (line, template) => {
  await ask(line);
  expect((server.seen[0]?.context as Call | undefined)?.route).toBe(template);
});
