/** The services of compose.yaml, each by its own command, together: without containers and a registry. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AS } from "../hub/support/caller.ts";
import { runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";
import { ComposeServices, composeIsAbsent } from "./compose-services.ts";

describe.skipIf(composeIsAbsent())("the services of compose.yaml", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-compose-"));
  let services: ComposeServices;

  beforeAll(async () => {
    const bundles = {
      "svc-iam": join(folder, "bundle-iam"),
      "svc-access-hub": join(folder, "bundle-hub"),
    };
    bundle("services/iam", bundles["svc-iam"]);
    bundle("examples/hub", bundles["svc-access-hub"], "git/main.ts", "hub/main.ts");
    services = await ComposeServices.prepare(folder, bundles);
    await services.start();
  });
  afterAll(async () => {
    await services?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const at = (port: number, path: string) => `http://127.0.0.1:${services.port(port)}${path}`;

  test("IAM is ready on PostgreSQL and SpiceDB, and asks for its first owner [DEPLOY-5]", async () => {
    const ready = async () => (await fetch(at(18080, "/readyz"))).json();
    // It has published its routes by then.
    await expect.poll(ready, { message: "IAM is ready, and asks for its first owner" }).toEqual({
      status: "ready",
      details: [expect.stringContaining("run svc-iam bootstrap")],
    });
    const command = /^#\s+docker compose exec iam (.*bootstrap.*)$/m.exec(services.text)?.[1] ?? "";
    const { status, stdout } = services.exec("iam", command.split(" "));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^http:\/\/localhost:\d+\/v1\/iam\/ui\/bootstrap\?token=\S+\n$/);
    const page = await fetch(stdout.trim().replace("localhost", "127.0.0.1"));
    expect(page.status).toBe(200);
    const login = await fetch(at(18080, "/v1/iam/ui/login"), { redirect: "manual" });
    expect(login.headers.get("location")).toMatch(/\/v1\/iam\/oidc\/auth\?/);
  });

  test("the hub asks IAM, and both publish their routes in etcd [DEPLOY-5]", async () => {
    const create = async (headers: Readonly<Record<string, string>>) => {
      const body = JSON.stringify({ organizationId: "acme" });
      const options = {
        method: "POST",
        body,
        headers: { ...headers, "content-type": "application/json" },
      };
      return (await fetch(at(18001, "/v1/projects"), options)).status;
    };
    // Alice owns the organization as soon as the hub has seeded it, and the name is missing.
    await expect
      .poll(() => create(AS.alice), {
        message: "the hub gets its decisions from IAM",
        interval: 200,
      })
      .toBe(400);
    expect(await create(AS.mallory)).toBe(403);
    // All keys.
    const range = JSON.stringify({ key: "AA==", range_end: "AA==", keys_only: true });
    const found = await fetch(at(2379, "/v3/kv/range"), { method: "POST", body: range });
    const { kvs } = (await found.json()) as { kvs: { key: string }[] };
    const keys = kvs.map(({ key }) => atob(key)).join("\n");
    for (const service of ["iam", "hub"]) expect(keys).toMatch(new RegExp(`\\b${service}\\b`));
  });

  test("each service has a health check, which is well [DEPLOY-5]", () => {
    const { declared, required } = services.healthChecks;
    expect(declared.sort()).toEqual(["etcd", "git", "hub", "iam", "postgres", "spicedb"]);
    expect(declared).toEqual(expect.arrayContaining(required));
    expect(declared.filter((name) => !services.isHealthy(name))).toEqual([]);
  });

  test("each ends with 0 on SIGTERM [DEPLOY-5]", async () => {
    const { iam, hub, git } = await services.stop();
    expect({ iam, hub, git }).toEqual({ iam: 0, hub: 0, git: 0 });
    const stopped = ["iam", "hub", "git", "spicedb", "etcd"];
    expect(stopped.filter((name) => services.isHealthy(name))).toEqual([]);
  });
});

function bundle(folder: string, out: string, ...entries: string[]): void {
  const script = join(ROOT, "scripts/bundle-service.ts");
  const { status, stderr } = runProgram(process.execPath, [script, folder, out, ...entries], {
    cwd: ROOT,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
}
