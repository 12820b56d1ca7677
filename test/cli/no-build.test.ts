import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, Workspace } from "../support/workspace.ts";

test.each([["svc-access"], ["svc-access", "audit"], ["protoc-gen-svc-access"]])(
  "%s: in a checkout without a build, the command that makes it is named",
  (program, ...args) => {
    using workspace = new Workspace({});
    cpSync(join(ROOT, "bin"), join(workspace.folder, "bin"), { recursive: true });
    workspace.write("package.json", '{"type": "module"}');
    const path = join(workspace.folder, "bin", program);
    const { status, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: "utf8" });
    expect(stderr).toBe("svc-access is not built: run npm ci, or npm run prepare\n");
    expect(status).toBe(2);
  },
);
