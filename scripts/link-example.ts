/**
 * Links this checkout into the examples as the package that they depend on.
 *
 * npm would link the whole checkout into an example, which is a part of it. A
 * folder with links to the published files avoids that cycle.
 *
 * Services are workspaces, which npm gives that link; here it is made for a checkout that was
 * installed before it had services.
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
  const own = readdirSync(join(root, "bin"));
  for (const name of own) link(join(root, "bin", name), join(modules, ".bin", name));
  // npm links this checkout as the dependency of services, too, with its programs.
  for (const name of readdirSync(shared).filter((one) => !own.includes(one))) {
    link(join(shared, name), join(modules, ".bin", name));
  }
}

const self = join(root, "node_modules/svc-access");
if (existsSync(shared) && existsSync(join(root, "services")) && !existsSync(self)) link(root, self);

function link(target: string, path: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync(relative(join(path, ".."), target), path);
}
