/**
 * Links this checkout into the examples as the package that they depend on.
 *
 * npm would link the whole checkout into an example, which is a part of it. A
 * folder with links to the published files avoids that cycle.
 *
 * Runs may be at work at once, and programs read the links: links that are right stay, and others are
 * replaced in one step.
 *
 * Services are workspaces, which npm gives that link; here it is made for a checkout that was
 * installed before it had services.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const examples = ["hub", "notes"].map((name) => join(root, "examples", name));
const shared = join(root, "node_modules/.bin");
/** A link before it is in its place: beside none of the others, which would be a link too many there. */
const fresh = join(root, "node_modules", `.link-${process.pid}`);

// A copy of this repository inside another project may have neither.
for (const example of existsSync(shared) ? examples.filter((path) => existsSync(path)) : []) {
  const modules = join(example, "node_modules");
  const published = join(modules, "svc-access");
  const programs = join(modules, ".bin");
  const own = readdirSync(join(root, "bin"));
  folder(
    modules,
    [published, programs].map((path) => basename(path)),
  );
  const files = ["package.json", "bin", "dist", "model", "proto", "schemas"];
  folder(published, files);
  for (const name of files) link(join(root, name), join(published, name));
  // npm links this checkout as the dependency of services, too, with its programs.
  const others = readdirSync(shared).filter((one) => !own.includes(one));
  folder(programs, [...own, ...others]);
  for (const name of own) link(join(root, "bin", name), join(programs, name));
  for (const name of others) link(join(shared, name), join(programs, name));
}

const self = join(root, "node_modules/svc-access");
if (existsSync(shared) && existsSync(join(root, "services")) && !existsSync(self)) link(root, self);

/** Makes a folder that has nothing but what is named. */
function folder(path: string, names: readonly string[]): void {
  // Through a link of npm, the checkout itself would be changed.
  if (isLink(path)) removeLink(path);
  mkdirSync(path, { recursive: true });
  for (const name of readdirSync(path)) {
    if (!names.includes(name)) rmSync(join(path, name), { recursive: true, force: true });
  }
}

function link(target: string, path: string): void {
  const text = relative(dirname(path), target);
  if (isLink(path) && readlinkSync(path) === text) return;
  // A link replaces a link or a file in one step, but no folder.
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) rmSync(path, { recursive: true, force: true });
  symlinkSync(text, fresh);
  try {
    renameSync(fresh, path);
  } catch (error) {
    unlinkSync(fresh);
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    // The packages are a link to another disk, as in a copy of this checkout in memory.
    const near = join(root, "examples", basename(fresh));
    symlinkSync(text, near);
    renameSync(near, path);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Another run may have made it a folder by now. */
function removeLink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // That is what it should be.
  }
}
