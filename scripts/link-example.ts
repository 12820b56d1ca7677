/**
 * Links this checkout into the examples as the package that they depend on.
 *
 * npm would link the whole checkout into an example, which is a part of it. A
 * folder with links to the published files avoids that cycle.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const examples = ["hub", "notes"].map((name) => join(root, "examples", name));
const shared = join(root, "node_modules/.bin");

// A copy of this repository inside another project may have neither.
for (const example of existsSync(shared) ? examples.filter((path) => existsSync(path)) : []) {
  const modules = join(example, "node_modules");
  rmSync(modules, { recursive: true, force: true });
  for (const name of ["package.json", "bin", "dist", "model", "proto", "schemas"]) {
    link(join(root, name), join(modules, "svc-access", name));
  }
  for (const name of readdirSync(shared)) link(join(shared, name), join(modules, ".bin", name));
  for (const name of readdirSync(join(root, "bin"))) {
    link(join(root, "bin", name), join(modules, ".bin", name));
  }
}

function link(target: string, path: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync(relative(join(path, ".."), target), path);
}
