import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./workspace.ts";

/** Tests of programs run the bundles, as users do, and build them before each run. */
export default function build(): void {
  const node = (script: string) =>
    execFileSync(process.execPath, [join(ROOT, script)], { cwd: ROOT, stdio: "inherit" });
  node("scripts/build.ts");
  node("scripts/link-example.ts");
}
