/** A service that `init` writes, as images contain it: a bundle that runs in any working folder. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runProgram } from "../support/programs.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the starter starts from its bundle, with its own model and routes", async () => {
  const app = join(folder, "app");
  const script = join(ROOT, "scripts/bundle-service.ts");
  const bundled = runProgram("node", [script, join(ROOT, "examples/notes"), app]);
  expect(bundled).toMatchObject({ status: 0, stderr: "" });

  const starter = readFileSync(join(ROOT, "examples/notes/service.yaml"), "utf8");
  const file = join(folder, "service.yaml");
  writeFileSync(file, starter.replace("model: model.zed", `model: ${app}/model.zed`));
  const child = spawn(process.execPath, [join(app, "dist/main.js"), file], {
    cwd: folder,
    env: {
      ...process.env,
      DATA: folder,
      HTTP_ADDRESS: "127.0.0.1:0",
      GRPC_ADDRESS: "127.0.0.1:0",
      METRICS_ADDRESS: "127.0.0.1:0",
    },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
  }
  const ended = once(child, "exit");
  try {
    await until(
      () => `the service has started: ${log}`,
      () => {
        if (child.exitCode !== null) throw new Error(log);
        return log.includes('"message":"started"');
      },
    );
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ended).toEqual([0, null]);
});
