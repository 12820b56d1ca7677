/** The links of the examples to this checkout: runs of the script at once, and its run while they are used. */
import { execFile } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../scripts/link-example.ts");

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-access-links-"));
  for (const folder of ["scripts", "bin", "examples/hub", "node_modules/.bin", "services"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  cpSync(SCRIPT, join(root, "scripts/link-example.ts"));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  writeFileSync(join(root, "bin/svc-access"), "");
  for (let index = 0; index < 100; index++) {
    writeFileSync(join(root, `node_modules/.bin/program${index}`), "");
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const run = () =>
  promisify(execFile)(process.execPath, [join(root, "scripts/link-example.ts")], { cwd: root });
const modules = (...names: readonly string[]) => join(root, "examples/hub/node_modules", ...names);
/** The links of a folder, with where they lead and when they were made. */
const linksOf = (folder: string) =>
  readdirSync(modules(folder)).map((name) => {
    const path = modules(folder, name);
    return [name, readlinkSync(path), lstatSync(path, { bigint: true }).ctimeNs];
  });

test("runs that begin at once make the links once", async () => {
  await Promise.all([run(), run(), run(), run()]);
  expect(linksOf(".bin")).toHaveLength(101);
  expect(readdirSync(modules())).toEqual([".bin", "svc-access"]);
  expect(readlinkSync(modules("svc-access/package.json"))).toBe("../../../../package.json");
  expect(readdirSync(join(root, "node_modules"))).toEqual([".bin", "svc-access"]);
});

test("a run leaves links that are right, replaces others, and removes what does not belong there", async () => {
  await run();
  const before = [linksOf(".bin"), linksOf("svc-access")];
  mkdirSync(modules("other"));
  symlinkSync("nowhere", modules(".bin/gone"));
  await run();
  expect([linksOf(".bin"), linksOf("svc-access")]).toEqual(before);
  expect(readdirSync(modules())).toEqual([".bin", "svc-access"]);

  rmSync(modules("svc-access/bin"));
  symlinkSync("nowhere", modules("svc-access/bin"));
  rmSync(modules("svc-access/dist"));
  mkdirSync(modules("svc-access/dist/old"), { recursive: true });
  await run();
  expect(linksOf("svc-access").map(([, target]) => target)).toEqual(
    before[1]?.map(([, target]) => target),
  );
});

test("a link of npm to the whole checkout is replaced, and the checkout stays as it is", async () => {
  mkdirSync(modules());
  symlinkSync("../../..", modules("svc-access"));
  const files = readdirSync(root);
  await run();
  expect(readdirSync(root)).toEqual(files);
  expect(readdirSync(modules("svc-access"))).toHaveLength(6);
});
