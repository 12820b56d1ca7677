/**
 * Records the files that tests compare with: the generated code of the examples and of the fixtures,
 * the goldens of `testdata/`, and the pages that tests write. Review the differences before a commit.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const env = {
  ...process.env,
  PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`,
  UPDATE_GOLDENS: "1",
};
const GOLDENS = [
  "test/emit/gateway/emit-gateway.test.ts",
  "test/runtime/access-table/access-table.test.ts",
  "services/iam/test/access/administration-table.test.ts",
];

run("node", "scripts/generate.ts");
run("node", "scripts/build.ts");
run("node", "scripts/link-example.ts");
run("node", "scripts/compile-examples.ts");
for (const script of globSync("test/**/generate.sh", { cwd: root }).sort()) {
  // The protos of the conformance suite are not in this repository.
  if (!script.startsWith("test/conformance/")) run("sh", script);
}
run("vitest", "run", ...GOLDENS);

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}
