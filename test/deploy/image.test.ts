/** The images of the Dockerfile, built and run: what an operator relies on. */
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";
import { Container, imagesAreAbsent } from "./container.ts";

const UID = 65532;
const MIB = 1024;

describe.skipIf(imagesAreAbsent())("the image of svc-iam", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-image-"));
  const data = join(folder, "data");
  let container: Container;
  let before: Map<string, string>;
  let [http, metrics] = [0, 0];
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
    const text = sample.replace("../../model/iam.zed", "/app/model/iam.zed");
    writeFileSync(join(configuration, "service.yaml"), text);
    container = new Container("iam", { "/data": data, "/etc/svc-iam": configuration });
    before = container.files();
    const environment = {
      HTTP_ADDRESS: `127.0.0.1:${http}`,
      GRPC_ADDRESS: "127.0.0.1:0",
      METRICS_ADDRESS: `127.0.0.1:${metrics}`,
      PUBLIC_URL: `http://localhost:${http}`,
    };
    container.start(environment);
    const ready = async () => {
      if (container.hasEnded) throw new Error(container.output);
      return (
        (await fetch(`http://127.0.0.1:${http}/readyz`).catch(() => undefined))?.status === 200
      );
    };
    await until(() => `svc-iam is ready: ${container.output}`, ready);
  });
  afterAll(() => {
    container?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("runs as a user without rights, who can change nothing of it, and has no shell", () => {
    expect(container.config.User).toBe(`${UID}:${UID}`);
    const status = readFileSync(`/proc/${container.pid}/status`, "utf8");
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(UID));
    const all = [...before];
    const own = all.filter(([, about]) => !about.includes(" 0:0 "));
    expect(own).toEqual([]);
    const writable = all.filter(([, about]) => /^(?:10|4)\d*[2367]\d? /.test(about));
    expect(writable.filter(([, about]) => !about.startsWith("12"))).toEqual([]);
    const programs = all.filter(([path]) => /(?:^|\/)(?:sh|bash|dash|busybox|apt|npm)$/.test(path));
    expect(programs).toEqual([]);
    // Sources and development packages are not part of it.
    expect(all.filter(([path]) => /node_modules|\.ts$/.test(path))).toEqual([]);
  });

  test("is well by its own health check, and ill if its service does not answer", async () => {
    expect(health()).toBe(0);
    const nobody = [`HEALTH_URL=http://127.0.0.1:${await freePort()}/healthz`];
    expect(container.exec(container.config.Healthcheck.Test.slice(1), nobody)).toBe(1);
  });

  test("takes at most 150 MB of memory at rest", () => {
    const status = readFileSync(`/proc/${container.pid}/status`, "utf8");
    const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / MIB;
    expect(resident).toBeLessThan(150);
  });

  test("writes nowhere but its volume, and ends with 0 on SIGTERM", async () => {
    expect(container.volumes).toEqual(["/data"]);
    const login = await fetch(`http://127.0.0.1:${http}/v1/iam/ui/login`, { redirect: "manual" });
    expect(login.status).toBe(303);
    expect(await container.stop()).toBe(0);
    expect(container.files()).toEqual(before);
    expect(container.output).toContain('"message":"stopped"');
  });
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
