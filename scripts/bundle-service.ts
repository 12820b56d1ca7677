/**
 * Bundles a service into a folder that needs Node.js and nothing else, as images contain it:
 *
 *   node scripts/bundle-service.ts FOLDER OUT [ENTRY…]
 *
 * An entry is a file in `src`, `main.ts` if none is named. The result is as shallow as the source, so
 * that programs find `gen` by the same relative path: `dist` for `src`, with `gen/routes`, the models
 * of the service and the folder `model` beside it.
 */
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { BUNDLE_OPTIONS } from "./bundle-options.ts";

const [folder = "", out = "", ...entries] = process.argv.slice(2);
if (!existsSync(join(folder, "src")) || out === "")
  fail("usage: bundle-service.ts FOLDER OUT [ENTRY…]");
// The folder is copied into images as it is, so nothing else may be in it.
if (existsSync(out) && readdirSync(out).length > 0) fail(`${out} is not empty: remove it first`);

const root = resolve(import.meta.dirname, "..");
const source = resolve(folder, "src");
const dist = resolve(out, "dist");

await build({
  absWorkingDir: root,
  entryPoints: [
    ...(entries.length === 0 ? ["main.ts"] : entries).map((entry) => join(source, entry)),
  ],
  outbase: source,
  outdir: dist,
  ...BUNDLE_OPTIONS,
});
await build({
  entryPoints: [join(import.meta.dirname, "container/health.ts")],
  outfile: join(dist, "health.js"),
  format: "esm",
  platform: "node",
  target: "node24",
  logLevel: "error",
});
writeFileSync(join(out, "package.json"), '{"type": "module", "private": true}\n');
mkdirSync(join(out, "gen"));
cpSync(join(folder, "gen/routes"), join(out, "gen/routes"), { recursive: true });
cpSync(join(root, "model"), join(out, "model"), { recursive: true });
for (const model of globSync("*.zed", { cwd: folder })) {
  cpSync(join(folder, model), join(out, model));
}
// Read by the client of etcd, from the folder beside that of its code.
cpSync(join(root, "node_modules/etcd3/proto"), join(out, "proto"), { recursive: true });

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
