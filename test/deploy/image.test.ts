/** The images of the Dockerfile, built and run: what an operator relies on. */

import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";
import { Container, imagesAreAbsent } from "./container.ts";

const UID = 65532;
const MIB = 1024;
const DRAIN_MS = 3000;
/** The drain bound and the 6 s after it, on a machine that is ten times as slow. */
const MOST_DRAIN_MS = 10 * (DRAIN_MS + 6000);

describe.skipIf(imagesAreAbsent())("the image of svc-iam", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-image-"));
  const data = join(folder, "data");
  let container: Container;
  let before: Map<string, string>;
  let environment: Record<string, string>;
  let [http, metrics] = [0, 0];
  const at = (path: string) => `http://127.0.0.1:${http}${path}`;
  const ready = () =>
    until(
      () => `svc-iam is ready: ${container.output}`,
      async () => {
        if (container.hasEnded) throw new Error(container.output);
        return (await fetch(at("/readyz")).catch(() => undefined))?.status === 200;
      },
    );
  const health = () =>
    container.exec(container.config.Healthcheck.Test.slice(1), [
      `HEALTH_URL=http://127.0.0.1:${metrics}/healthz`,
    ]);

  beforeAll(async () => {
    mkdirSync(data);
    chownSync(data, UID, UID);
    http = await freePort();
    metrics = await freePort();
    const configuration = join(folder, "configuration");
    mkdirSync(configuration);
    const sample = readFileSync(join(ROOT, "services/iam/service.yaml"), "utf8");
    const text = sample
      .replace("../../model/iam.zed", "/app/model/iam.zed")
      .replace("\nserver:\n", `\nserver:\n  shutdown_timeout_ns: ${DRAIN_MS}000000\n`);
    writeFileSync(join(configuration, "service.yaml"), text);
    container = new Container("iam", { "/data": data, "/etc/svc-iam": configuration });
    before = container.files();
    environment = {
      HTTP_ADDRESS: `127.0.0.1:${http}`,
      GRPC_ADDRESS: "127.0.0.1:0",
      METRICS_ADDRESS: `127.0.0.1:${metrics}`,
      PUBLIC_URL: `http://localhost:${http}`,
    };
    container.start(environment);
    await ready();
  });
  afterAll(() => {
    container?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("runs as a user without rights, who can change nothing of it, and has no shell [DEPLOY-1]", () => {
    expect(container.config.User).toBe(`${UID}:${UID}`);
    const status = readFileSync(`/proc/${container.pid}/status`, "utf8");
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(UID));
    const all = [...before];
    const own = all.filter(([, about]) => !about.includes(" 0:0 "));
    expect(own).toEqual([]);
    const writable = all.filter(([, about]) => /^(?:10|4)\d*[2367]\d? /.test(about));
    const paths = writable.filter(([, about]) => !about.startsWith("12")).map(([path]) => path);
    // Like all images it has the folder, which is read-only where its root is.
    expect(paths).toEqual(["tmp"]);
    const programs = all.filter(([path]) => /(?:^|\/)(?:sh|bash|dash|busybox|apt|npm)$/.test(path));
    expect(programs).toEqual([]);
    // Sources and development packages are not part of it.
    expect(all.filter(([path]) => /node_modules|\.ts$/.test(path))).toEqual([]);
  });

  test("is well by its own health check, and ill if its service does not answer [DEPLOY-2]", async () => {
    expect(health()).toBe(0);
    const nobody = [`HEALTH_URL=http://127.0.0.1:${await freePort()}/healthz`];
    expect(container.exec(container.config.Healthcheck.Test.slice(1), nobody)).toBe(1);
  });

  test("takes at most 150 MB of memory at rest after some requests [DEPLOY-3]", async () => {
    for (let round = 0; round < 20; round++) {
      for (const path of ["/v1/iam/ui/login", "/v1/iam/oidc/jwks", "/v1/iam/me", "/healthz"]) {
        await (await fetch(at(path), { redirect: "manual" })).text();
      }
    }
    const status = readFileSync(`/proc/${container.pid}/status`, "utf8");
    const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / MIB;
    expect(resident).toBeLessThan(150);
  });

  test("writes nowhere but its volume, also where it may [DEPLOY-4]", async () => {
    expect(container.volumes).toEqual(["/data"]);
    const login = await fetch(at("/v1/iam/ui/login"), { redirect: "manual" });
    expect(login.status).toBe(303);
    expect(await container.stop()).toBe(0);
    expect(container.changed(before)).toEqual([]);
    expect(container.output).toContain('"message":"stopped"');
  });

  test("serves on a read-only file system, and on SIGTERM lets a request finish, but only until its drain bound [DEPLOY-4]", async () => {
    container.startReadOnly(environment);
    await ready();
    const login = await fetch(at("/v1/iam/ui/login"), { redirect: "manual" });
    expect(login.status).toBe(303);
    const [finished, endless] = [await tokenRequest(), await tokenRequest()];
    const stopped = container.stop(MOST_DRAIN_MS);
    const stops = async () => (await fetch(at("/readyz")).catch(() => undefined))?.status !== 200;
    await until("it has the signal", stops);
    finished.request.end(finished.rest);
    // It is read and answered: no client x.
    expect(await finished.status).toBe(401);
    expect(await stopped).toBe(0);
    // Refused or cut off, by then.
    expect(await endless.status).not.toBe(401);
    expect(container.output).toContain("calls were still under way and are cut off");
  });

  /** A request of which the service reads the body, the end of which is not sent. */
  async function tokenRequest() {
    const body = "grant_type=refresh_token&client_id=x&refresh_token=x";
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": body.length,
      expect: "100-continue",
    };
    const sent = request(at("/v1/iam/oidc/token"), { method: "POST", headers, agent: false });
    const status = new Promise<number | undefined>((resolve) => {
      sent.once("response", (response) => resolve(response.resume().statusCode));
      sent.once("error", () => resolve(undefined));
    });
    sent.flushHeaders();
    await once(sent, "continue");
    sent.write(body.slice(0, 10));
    return { request: sent, rest: body.slice(10), status };
  }
});

describe.skipIf(imagesAreAbsent())("the image of the hub", () => {
  test("has both programs, which name the file that is missing", async () => {
    const container = new Container("hub");
    try {
      for (const program of ["hub", "git"]) {
        container.start({}, [`/app/dist/${program}/main.js`, "/etc/hub/none.yaml"]);
        await until(`${program} ends`, () => container.hasEnded);
      }
      expect(container.output.match(/^\/etc\/hub\/none\.yaml does not exist/gm)).toHaveLength(2);
    } finally {
      container.remove();
    }
  });
});
