/** Lints and generates the examples, whose generated code is committed. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { compileHub } from "./start/compile-hub.ts";

await compileHub();

const cwd = new URL("../examples/notes", import.meta.url).pathname;
const env = { ...process.env, PATH: `${join(cwd, "node_modules/.bin")}:${process.env["PATH"]}` };
const { status } = spawnSync("buf", ["generate"], {
  cwd,
  env,
  stdio: ["ignore", "ignore", "inherit"],
});
process.exit(status ?? 1);
