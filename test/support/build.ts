import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { ROOT, RUN_FOLDER } from "./workspace.ts";

/** Tests of programs run the bundles, as users do, and build those of changed sources before each run. */
export default function build(): () => void {
  const node = (script: string, ...args: readonly string[]) =>
    execFileSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: "inherit" });
  node("scripts/build.ts", "--if-changed");
  node("scripts/link-example.ts");
  return ownTemporaryFolder();
}

/**
 * Gives this run a temporary folder of its own, and returns what removes it: tests kill processes, which then
 * leave their folders. The workers start after this, and pass it to their children.
 */
function ownTemporaryFolder(): () => void {
  const before = process.env["TMPDIR"];
  const folder = makeTemporaryFolder();
  process.env["TMPDIR"] = folder;
  process.env[RUN_FOLDER] = folder;
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
