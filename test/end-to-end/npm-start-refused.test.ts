/** `npm start` that cannot start: one line that says what to change, and exit code 2. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/workspace.ts";

/** Starts the platform where that fails before anything runs. */
function refused(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-platform-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const main = join(ROOT, "scripts/start.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    env: { ...process.env, DATA: join(folder, "data"), ...environment },
  });
  return { status, stdout, stderr };
}

describe("what a person must change is said in one line, with exit code 2, and nothing is started [START-6]", () => {
  test.each([
    [
      "a port that is a word",
      { HUB_HTTP_PORT: "http" },
      "HUB_HTTP_PORT is not a port: write a number of 1 to 65535",
    ],
    [
      "the port 0",
      { IAM_GRPC_PORT: "0" },
      "IAM_GRPC_PORT is not a port: write a number of 1 to 65535",
    ],
    [
      "a port above all",
      { IAM_GRPC_PORT: "65536" },
      "IAM_GRPC_PORT is not a port: write a number of 1 to 65535",
    ],
    [
      "a port twice",
      { HUB_GRPC_PORT: "18080" },
      "HUB_GRPC_PORT and IAM_HTTP_PORT are the same port, 18080",
    ],
    [
      "a configuration of svc-iam that does not exist",
      { IAM_CONFIG: "/none/iam.yaml" },
      "IAM_CONFIG names /none/iam.yaml, which does not exist",
    ],
  ])("%s", (_name, environment, message) => {
    const stderr = `npm start: ${message}\n`;
    expect(refused(environment)).toEqual({ status: 2, stdout: "", stderr });
  });

  test("an option that does not exist", () => {
    const stderr = "npm start: --clean is not an option: npm start, or npm start -- --fresh\n";
    expect(refused({}, "--clean")).toEqual({ status: 2, stdout: "", stderr });
  });

  test.each(["IAM_HTTP_PORT", "IAM_METRICS_PORT", "HUB_HTTP_PORT", "GIT_METRICS_PORT"])(
    "%s that is taken",
    async (variable) => {
      const server = createServer();
      onTestFinished(() => void server.close());
      const port = await freePort();
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      const { status, stdout, stderr } = refused({ ...(await freePorts()), [variable]: `${port}` });
      expect(stderr).toMatch(
        new RegExp(
          `^npm start: port ${port}, for .+, is taken: choose another with ${variable}=… npm start\n$`,
        ),
      );
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    },
  );

  test("a folder that is not its own is not removed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-access-platform-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "thesis.txt"), "");
    const { status, stderr } = refused({ ...(await freePorts()), DATA: folder }, "--fresh");
    expect(stderr).toBe(
      `npm start: ${folder} has no platform.json, so it is not removed: name the data folder with DATA\n`,
    );
    expect(status).toBe(2);
    expect(existsSync(join(folder, "thesis.txt"))).toBe(true);
  });

  test("a state that is damaged", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-access-platform-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "platform.json"), "{");
    const { status, stderr } = refused({ ...(await freePorts()), DATA: folder });
    expect(stderr).toBe(
      `npm start: ${folder}/platform.json is damaged: begin anew with npm start -- --fresh\n`,
    );
    expect(status).toBe(2);
  });
});

async function freePorts(): Promise<Record<string, string>> {
  const names = ["IAM_HTTP", "IAM_GRPC", "IAM_METRICS", "HUB_HTTP", "HUB_GRPC", "HUB_METRICS"];
  names.push("GIT_GRPC", "GIT_METRICS");
  // Nothing listens at a port that was found, so it may be found again.
  const ports = new Set<number>();
  while (ports.size < names.length) ports.add(await freePort());
  const found = [...ports];
  return Object.fromEntries(names.map((name, index) => [`${name}_PORT`, `${found[index]}`]));
}
