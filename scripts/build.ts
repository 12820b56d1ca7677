/** Bundles the programs and the libraries into `dist/`. */
import { rmSync } from "node:fs";
import { build, type Plugin } from "esbuild";

const root = new URL("..", import.meta.url).pathname;

/**
 * protoplugin loads the TypeScript compiler at its start, to transpile output
 * to JavaScript. This package only asks it for TypeScript, so the compiler,
 * which takes most of a plugin's start-up, stays out of the bundle.
 */
const withoutTranspiler: Plugin = {
  name: "without-transpiler",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(typescript|@typescript\/vfs)$/ }, ({ path }) => {
      return { path, namespace: "without-transpiler" };
    });
    onLoad({ filter: /.*/, namespace: "without-transpiler" }, () => {
      return { contents: "module.exports = {};", loader: "js" };
    });
  },
};

rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    "protoc-gen-svc-access": "src/plugin/protoc-main.ts",
    "buf-plugin-svc-access": "src/plugin/check-main.ts",
    "svc-access": "src/cli/main.ts",
    index: "src/index.ts",
    runtime: "src/runtime/index.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  chunkNames: "chunks/[name]-[hash]",
  legalComments: "none",
  logLevel: "warning",
  minifySyntax: true,
  plugins: [withoutTranspiler],
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});
