import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CurlAnswer, curl, headerArgs } from "../support/curl.ts";
import { isAbsent } from "../support/run-program.ts";
import { AS } from "./support/caller.ts";
import { HubProcesses } from "./support/hub-process.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { Scene } from "./support/scene.ts";

const FRONTEND = "http://localhost:3000";
const JSON_BODY = ["-H", "content-type: application/json", "-d"];

describe.skipIf(isAbsent("curl"))("HTTP, by curl", () => {
  let processes: HubProcesses;
  let client: ReflectionClient;

  beforeAll(async () => {
    processes = await HubProcesses.start();
    client = new ReflectionClient(processes.grpc);
  });
  afterAll(async () => {
    client?.close();
    await processes?.remove();
  });
  const get = (path: string, ...args: string[]): Promise<CurlAnswer> =>
    curl(`${processes.http}${path}`, ...headerArgs(AS.alice), ...args);

  test("a preflight of the frontend is allowed, with credentials; one of another origin is rejected", async () => {
    const preflight = ["-X", "OPTIONS", "-H", "access-control-request-method: POST"];
    const own = await get("/v1/projects", ...preflight, "-H", `origin: ${FRONTEND}`);
    expect(own.status).toBe(204);
    expect(own.headers).toMatchObject({
      "access-control-allow-origin": FRONTEND,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      vary: "Origin",
    });
    for (const origin of ["http://localhost:30000", "https://evil.example", "null"]) {
      const other = await get("/v1/projects", ...preflight, "-H", `origin: ${origin}`);
      expect(other.status).toBe(403);
      expect(other.headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  test("a page of the frontend may read; a page of another site may not write", async () => {
    const own = await get("/v1/authn/me", "-H", `origin: ${FRONTEND}`);
    expect([own.status, own.headers["access-control-allow-origin"]]).toEqual([200, FRONTEND]);
    const body = JSON.stringify({ organizationId: "acme", displayName: "Theirs" });
    for (const sign of ["origin: https://evil.example", "sec-fetch-site: cross-site"]) {
      const { status } = await get("/v1/projects", "-H", sign, ...JSON_BODY, body);
      expect(status).toBe(403);
    }
  });

  test("a page of an origin in the platform configuration may write, at the edge and at the hub", async () => {
    const origin = "https://admin.example.com";
    const page = ["-H", `origin: ${origin}`, "-H", "sec-fetch-site: same-site"];
    const asks = ["-X", "OPTIONS", "-H", "access-control-request-method: POST"];
    const preflight = await get("/v1/projects", ...asks, ...page);
    expect(preflight.headers).toMatchObject({ "access-control-allow-origin": origin });
    const body = JSON.stringify({ organizationId: "acme", displayName: "From another page" });
    const written = await get("/v1/projects", ...page, ...JSON_BODY, body);
    expect([written.status, written.headers["access-control-allow-origin"]]).toEqual([200, origin]);
    for (const other of ["https://admin.example.com.evil.example", "http://admin.example.com"]) {
      const refused = await get("/v1/projects", "-H", `origin: ${other}`, ...JSON_BODY, body);
      expect(refused.status).toBe(403);
    }
  });

  test("HEAD is answered as GET, without the body", async () => {
    const full = await get("/v1/authn/me");
    const head = await get("/v1/authn/me", "--head");
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-length"]).toBe(String(full.body.length));
  });

  test.each([
    [
      "a compressed body",
      415,
      "/v1/projects",
      ["-H", "content-encoding: gzip", ...JSON_BODY, "@GZIP"],
    ],
    ["another content type", 415, "/v1/projects", ["-H", "content-type: text/plain", "-d", "{}"]],
    ["a body that is not JSON", 400, "/v1/projects", [...JSON_BODY, "{"]],
    ["an unknown field", 400, "/v1/projects", [...JSON_BODY, '{"nope":1}']],
    ["an unknown parameter", 400, "/v1/authn/me?nope=1", []],
    ["an invalid number", 400, "/v1/projects/one", []],
    ["a dot segment", 400, "/v1/projects/../authn/me", []],
    ["a second identity", 400, "/v1/authn/me", ["-H", "x-svc-external-sub: bob"]],
    ["a method without a route", 405, "/v1/projects", ["-X", "DELETE"]],
    ["a path without a route", 404, "/v2/projects", []],
    ["a page that is too large", 400, "/v1/authn/me/logins?page_size=101", []],
    ["an invalid page token", 400, "/v1/authn/me/logins?page_token=%21", []],
  ])("%s is %i", async (_, status, path, args) => {
    const gzip = join(processes.data, "body.gz");
    writeFileSync(gzip, gzipSync('{"organizationId":"acme","displayName":"Small"}'));
    const answer = await get(path, ...args.map((arg) => arg.replace("@GZIP", `@${gzip}`)));
    const { request_id, ...body } = JSON.parse(answer.body);
    expect(answer.status).toBe(status);
    expect(body).toEqual({
      status,
      code: expect.stringMatching(/^[A-Z_]+$/),
      message: expect.stringMatching(/./),
    });
    expect(request_id).toBe(answer.headers["x-request-id"]);
  });

  test("WatchRun streams a line as soon as it is reported, and ends with the run", async () => {
    const scene = new Scene(client);
    const named = { organizationId: "acme", displayName: "Live" };
    const { projectId } = (await scene.one("ProjectService/CreateProject", { project: named }))
      .project;
    const skill = { skillId: "live", spaceId: "tools", displayName: "Live" };
    await scene.one("SkillService/CreateSkill", { skill });
    const digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    const upload = [{ header: { skillId: "live", digest } }, { chunk: btoa("{}") }];
    await scene.one("SkillPackageService/UploadPackage", upload, AS.git);
    await scene.one("SkillService/ReviewSkill", { skillId: "live", approved: true });
    await scene.one("SkillService/PublishSkill", { skillId: "live" });
    const start = { projectId, skillId: "live" };
    const { runId } = (await scene.one("ProjectService/StartRun", start)).run;

    const url = `${processes.http}/v1/projects/${projectId}/runs/${runId}:watch`;
    const child = spawn("curl", ["--silent", "--no-buffer", ...headerArgs(AS.alice), url]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => String((await lines.next()).value);
    const report = (text: string) =>
      scene.one("RunnerService/ReportLog", { projectId, runId, lines: [{ text }] }, AS.git);
    for (const text of ["one", "two", "three"]) {
      await report(text);
      // It arrives during the run: nothing else is sent before.
      expect(JSON.parse(await nextLine())).toMatchObject({ line: { text } });
    }
    await scene.one(
      "RunnerService/FinishRun",
      { projectId, runId, state: "RUN_STATE_FAILED" },
      AS.git,
    );
    expect(JSON.parse(await nextLine())).toEqual({ ended: "RUN_STATE_FAILED" });
    expect((await lines.next()).done).toBe(true);
  });
});
